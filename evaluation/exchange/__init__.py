"""Import and export: mappings of columns, checks, uploads, and the demo's data."""
