"""The contents of pages. These modules only read."""
