"""Grids: the choices of prompts, models and settings, their plan, prompts and progress."""
