"""A spaCy model made on the spot: it labels names by a list, where a trained model would guess."""

from collections.abc import Mapping
from pathlib import Path

# The labels that a trained model gives to the names in these tests.
KINDS = {
    "Anne Hathaway": "PERSON",
    "William Shakespeare": "PERSON",
    "Artemisia Gentileschi": "PERSON",
    "Shakespeare": "PERSON",
    "Stratford-upon-Avon": "GPE",
    "Paris": "GPE",
    "Chinese": "NORP",
    "1974": "DATE",
    '"Hamlet"': "WORK_OF_ART",
    "the Royal Navy": "ORG",
    "The Hague": "GPE",
    "McDonald's": "ORG",
}


def save_ruler_model(folder: Path, kinds: Mapping[str, str] = KINDS) -> Path:
    """Save a pipeline that has only an entity ruler; return its folder."""
    import spacy

    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns(  # type: ignore[attr-defined]
        [{"label": kind, "pattern": name} for name, kind in kinds.items()]
    )
    pipeline.meta["name"] = "tests"
    pipeline.to_disk(folder)
    return folder
