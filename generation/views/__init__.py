"""Pages of the material."""
