"""The formulas of the two papers, pure: entailment, citation, trade-off. One is one file."""
