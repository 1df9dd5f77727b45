"""The contents of the pages of experiments. This package only reads."""
