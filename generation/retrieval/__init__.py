"""Finding what a model should be shown: passages by words, entities by names."""
