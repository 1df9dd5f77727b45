"""The contents of the pages of graphs, questions and cited answers. This package only reads."""
