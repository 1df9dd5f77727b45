"""Metric runs from the request to the scores; also prompt search, distillation and checkpoints."""
