"""Whether two commits answer alike: `python -m tests.same_outputs COMMIT`, see `__main__`."""
