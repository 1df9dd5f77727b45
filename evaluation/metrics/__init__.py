"""Auto-metrics: the questions that each asks a backend, and the scores it makes of the answers."""
