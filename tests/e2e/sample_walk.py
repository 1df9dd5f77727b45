"""The pages of samples in every state that looks different, for the walk over all pages."""

from collections.abc import Iterator
from pathlib import Path

from django.urls import reverse

from generation.filters import ALL_ON
from generation.models import Sample
from generation.sample_choices import SampleChoices
from generation.services.samples import SAMPLES, decide, request_sample
from tests.makers import example_row, import_rows

TURNS = [
    {"speaker": "user", "text": "Who built the mill?"},
    {"speaker": "assistant", "text": "The monks of Ebrach."},
    {"speaker": "user", "text": "When did the mill close, and " + "why" * 60 + "?"},
]


def sample_pages(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and address of each page, with rows such as a worker leaves them."""
    bare = {"turns": TURNS, "golden_answer": "in the winter", "evidence": []}
    golden = [{"id": "p", "text": "It closed in the winter." * 40, "golden": True}]
    rows = [example_row("bare" * 20, **bare), example_row("e1", **bare | {"evidence": golden})]
    dataset = import_rows(folder, "sampled", examples=[*rows, example_row("alone")]).dataset
    assert dataset
    listed = reverse("generation:samples", args=[dataset.slug])
    yield "samples, none", listed
    yield "new sample", reverse("generation:new-sample", args=[dataset.slug])
    choices = SampleChoices(filters=ALL_ON._replace(on=ALL_ON.on[:-2]))
    ready = request_sample(dataset, choices, None)
    for name in ("filtering", "failed"):
        other = request_sample(dataset, choices._replace(name=name), None)
        Sample.objects.filter(pk=other.pk).update(state=name, n_done=1, error="OSError: no room")
        yield f"sample, {name}", reverse("generation:sample", args=[dataset.slug, other.pk])
    SAMPLES.claim_and_do(ready.pk)
    decide(ready.members.get(position=1), "drop", "It cannot be understood.", None)
    yield "samples", listed
    yield "sample", reverse("generation:sample", args=[dataset.slug, ready.pk])
    for position in (1, 2):
        address = reverse("generation:verify-example", args=[dataset.slug, ready.pk, position])
        yield f"sampled example {position}", address
