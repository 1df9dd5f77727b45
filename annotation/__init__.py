"""People: studies, raters, targets, votes."""
