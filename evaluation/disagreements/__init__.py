"""Where raters and a metric say different things: the worklist, and its cases. Only reads."""
