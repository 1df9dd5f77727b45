"""KaLMA's experiments over a graph: which there are, how far each is, and its table for a page."""
