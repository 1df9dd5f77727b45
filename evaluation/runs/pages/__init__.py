"""The contents of pages of metric runs."""
