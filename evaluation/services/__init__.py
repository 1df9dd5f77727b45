"""Every write to runs, scores and adjudications, by what it is about."""
