"""Four questions over seven passages, whose ranks are known: a recipe of five calls each."""

from pathlib import Path
from typing import Any

from generation.models import Dataset, Sample
from tests.makers import import_rows, response_row

# Each has seven words (a punctuation mark counts as one), so that BM25 weighs a word alike in all.
PASSAGES = {
    "alpha": "Alpha mill closed in nineteen ten.",
    "beta": "Beta mill closed in nineteen twenty.",
    "gamma": "Gamma mill closed in nineteen thirty.",
    "gamma-twice": "Gamma and gamma are old villages.",
    "delta": "Delta mill closed in nineteen forty.",
    "delta-twice": "Delta and delta are two rivers.",
    "delta-thrice": "Delta, delta, delta flows south.",
}
LARGE = {"model": "PaLM 540B", "prompt": "golden", "temperature": 0.0}


def valley(folder: Path, *, has_golden: bool = True, has_large: bool = True) -> Dataset:
    """Import questions and passages. Golden evidence has rank 1, 1, 2 and 3, see PASSAGES."""
    names = ["alpha", "beta", "gamma", "delta"]

    def example(name: str) -> dict[str, Any]:
        others = [key for key in PASSAGES if key.startswith(name) and key != name]
        evidence = [
            {"id": key, "text": PASSAGES[key], "golden": has_golden and key == name}
            for key in (name, *others)
        ]
        turns = [{"speaker": "user", "text": f"{name}?"}]
        return {"id": name, "turns": turns, "evidence": evidence}

    large = [
        response_row(f"large-{name}", name, setup=LARGE, text=PASSAGES[name]) for name in names
    ]
    outcome = import_rows(
        folder / "valley",
        "valley",
        examples=[example(name) for name in names],
        responses=large if has_large else [],
    )
    assert outcome.dataset
    return outcome.dataset


def sample_of(dataset: Dataset, *examples: str) -> Sample:
    """Make a sample of some examples, named after them."""
    sample = Sample.objects.create(
        dataset=dataset, name="-".join(examples), parameters={}, state=Sample.State.DONE
    )
    ids = dict(dataset.examples.values_list("key", "pk"))
    for position, key in enumerate(examples):
        sample.members.create(example_id=ids[key], position=position)
    return sample
