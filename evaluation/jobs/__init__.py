"""The engine of long work that is no metric run. Each kind of work is declared with its subject."""
