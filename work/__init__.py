"""Long work that survives whatever kills it: the processes that do it, and whether they live."""
