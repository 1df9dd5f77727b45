"""What the page of a study shows, laid out from its figures."""
