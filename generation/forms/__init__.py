"""Forms about the material."""
