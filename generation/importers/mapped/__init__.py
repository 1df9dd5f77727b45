"""Any table: a recipe, a mapping or their names say what its columns are."""
