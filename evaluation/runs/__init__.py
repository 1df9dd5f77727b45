"""Metric runs: what a model is asked, how far they are, and how their scores spread. Only reads."""
