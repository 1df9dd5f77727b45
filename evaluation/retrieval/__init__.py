"""What a retriever finds: recall and precision of a ranking, its page and its report."""
