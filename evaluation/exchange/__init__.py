"""Import and export: mapping, checks, uploads, and the demo's data."""
