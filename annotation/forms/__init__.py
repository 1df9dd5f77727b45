"""Forms in which raters answer, and in which researchers set up a study."""
