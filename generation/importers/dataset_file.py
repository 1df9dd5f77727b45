"""The file dataset.json: what people should know about a dataset before they use it."""

from collections.abc import Mapping
from typing import Any

from generation.importers.errors import DatasetError, excerpt
from generation.limits import LONGEST_FACTS, MAIN_METRICS

DATASET_FILE = "dataset.json"


def read_dataset_facts(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts in a dataset.json, by the names of `LONGEST_FACTS`.

    Raises:
        DatasetError: it has another fact, or a fact is no text or too long.
    """
    facts = {}
    for key, value in data.items():
        if key not in LONGEST_FACTS:
            raise DatasetError(DATASET_FILE, excerpt(key), " or ".join(LONGEST_FACTS))
        is_text = isinstance(value, str)
        if not is_text or len(value) > LONGEST_FACTS[key]:
            found = f"{len(value):,} characters" if is_text else excerpt(value)
            expected = f"a text of at most {LONGEST_FACTS[key]:,} characters"
            raise DatasetError(f"{DATASET_FILE}, {key}", found, expected)
        facts[key] = value.strip()
    mains = [facts.get(main, "") for main in MAIN_METRICS]
    if mains[0] and mains[0] == mains[1]:
        expected = "another run than for the other side"
        raise DatasetError(f"{DATASET_FILE}, {MAIN_METRICS[1]}", excerpt(mains[1]), expected)
    return facts
