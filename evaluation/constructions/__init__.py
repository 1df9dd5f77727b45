"""Constructions of questions: the check of a file of entries, and what pages show."""
