"""Auto-metrics: what each asks a backend about a response, and the score that the answers make."""
