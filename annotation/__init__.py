"""Judgements by people: studies, raters, targets and votes."""
