"""Any table. The roles of its columns come from a recipe, a mapping or the columns' names."""
