"""The services that carry out constructions: checks of entries, look-ups and rounds."""
