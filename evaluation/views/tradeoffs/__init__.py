"""Pages of the trade-off."""
