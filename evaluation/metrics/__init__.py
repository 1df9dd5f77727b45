"""Measures: pure functions from counts to numbers, without Django, clock or network."""
