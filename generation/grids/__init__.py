"""Grids: which prompts, models and settings an experiment goes through."""
