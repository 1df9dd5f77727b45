"""Entailment models behind one interface."""
