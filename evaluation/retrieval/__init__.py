"""Retrieval: recall and precision of a ranking, with its page and its report."""
