"""The engine of long work that is no metric run; kinds lie in their subject's room."""
