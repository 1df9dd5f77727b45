"""Construction of questions about a graph, from entries to a dataset (KaLMA, 2.2)."""
