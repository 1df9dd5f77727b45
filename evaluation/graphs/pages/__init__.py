"""What the pages of graphs, questions and cited answers show. Only reads."""
