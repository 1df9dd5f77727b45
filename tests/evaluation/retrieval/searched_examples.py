"""Rows of examples with the passages that are searched for these examples."""

from tests.makers import example_row


def passage(key, text, golden=False):
    return {"id": key, "text": text, "golden": golden}


def asked(key, *turns, evidence, **more):
    speakers = ["user", "assistant"] * len(turns)
    said = [{"speaker": s, "text": t} for s, t in zip(speakers, turns, strict=False)]
    return example_row(key, turns=said, evidence=evidence, **more)
