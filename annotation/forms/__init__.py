"""Forms: what raters fill in, and how researchers set up a study."""
