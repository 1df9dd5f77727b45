"""What raters said: counts, tidy rows, and what is assumed without a vote. Only reads."""
