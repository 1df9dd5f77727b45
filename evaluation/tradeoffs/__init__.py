"""The attribution/fluency trade-off: figures, restricted context, re-ranking, recipe, takeaways."""
