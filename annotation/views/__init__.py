"""Pages of studies: lists, rating, set-up, guidelines."""
