"""A metric run from asking to scores; prompt search, distillation and checkpoints beside it."""
