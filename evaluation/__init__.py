"""Numbers: auto-metrics, agreement, trade-offs; and whatever needs all three apps."""
