"""Backends that answer the questions of metrics: entailment models, baselines, and a judge."""
