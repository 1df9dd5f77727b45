"""Pages that need all three apps."""
