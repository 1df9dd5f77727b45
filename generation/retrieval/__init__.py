"""The search for what a model should be shown: passages by words, entities by names."""
