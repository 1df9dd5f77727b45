"""The pure formulas of the two papers: entailment, citation, trade-off. Each has its own file."""
