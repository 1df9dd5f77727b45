"""Charts: records → Altair specifications, for pages and papers."""
