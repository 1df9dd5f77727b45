"""The app of numbers: auto-metrics, agreement, trade-offs, and code that needs all three apps."""
