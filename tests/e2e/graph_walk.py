"""The pages of knowledge graphs in every state that looks different, for the walk."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.urls import reverse

from generation.models import Checkpoint, Dataset
from generation.retrieval.entities import recogniser_for
from generation.services.asked_questions import AskedOf, ask, store_question
from tests.evaluation.hand_cited import import_cited, score_answers, score_citations
from tests.generation.grid_runs import work
from tests.graph_material import ANSWER, ENTITIES, QUESTIONS, cited_row, hathaways, triple
from tests.makers import example_row, import_rows

ARABIC = "أغلق المصنع عام 1971 بعد الفيضان."
SCRIPT = "<script>alert('x')</script><b>bold</b> " + "incomprehensibilities" * 12
REPORTS = ("citations", "alignment", "incompetence", "retrieval", "quality")
RELATIONS = [f"a relation of many words, number {n}" for n in range(30)]

AWKWARD: list[dict[str, Any]] = [
    {
        "qid": "Q50",
        "label": "Artemisia Lomi Gentileschi, painter in Rome, Florence, Venice and Naples",
        "type": "human",
        "aliases": [ARABIC, SCRIPT, *(f"Artemisia {n}" for n in range(20))],
        "triples": [
            triple(relation, SCRIPT if n % 3 else "Anne Hathaway", "" if n % 3 else "Q1")
            for n, relation in enumerate([*RELATIONS, "occupation", "occupation", "occupation"])
        ],
    },
    {
        "qid": SCRIPT[:90],
        "label": SCRIPT,
        "type": SCRIPT[:150],
        "aliases": [],
        "triples": [triple(SCRIPT, SCRIPT), triple(ARABIC, ARABIC, "Q50"), triple("died", "")],
    },
    {"qid": "Q51", "label": ARABIC, "text": SCRIPT, "triples": []},
]
LONG = f"{ARABIC} What did Artemisia 3 and Anne Hathaway say of {SCRIPT}?"


def graph_pages(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and address of each page that a researcher has."""
    yield "graphs, none", reverse("graphs:graphs")
    bare = import_rows(folder / "bare", "bare graph", examples=[example_row()]).dataset
    assert bare
    yield from _tabs(bare, "no graph", ("graph", "ask"), ("citations",))
    plain = hathaways(folder, "only entities", kg_questions=[])
    recogniser_for(plain.pk)  # loads spaCy, which takes longer than a page should
    yield from _tabs(plain, "no questions", ("questions", "ask"), ("citations", "retrieval"))

    answers = [
        cited_row(removed=[["Q1", "place of birth", SCRIPT]]),
        cited_row("none", setup="says nothing", text="She died long ago."),
        cited_row("unknown", setup="unknown graph", graph_shown=None),
        cited_row("empty", setup="empty", text="", graph_shown=[]),
        cited_row("long", setup=f"long {SCRIPT}"[:200], text=f"{SCRIPT} {ARABIC} {ANSWER}"),
        cited_row("k3", "k3"),
    ]
    questions = [*QUESTIONS, {"id": "k3", "question": LONG, "entities": ["Q50"], "minimum": []}]
    dataset = hathaways(
        folder, entities=[*ENTITIES, *AWKWARD], kg_questions=questions, responses=answers
    )
    yield "graphs", reverse("graphs:graphs")
    yield from _tabs(dataset, "full")
    here = reverse("graphs:graph", args=[dataset.slug])
    yield "entities, none found", f"{here}?q=nobody"
    yield "entities, found", f"{here}?q=anne&type=human"
    for entity in dataset.entities.order_by("pk"):
        address = reverse("graphs:entity", args=[dataset.slug, entity.pk])
        yield f"entity {entity.qid[:10]}", address
    for key in ("k1", "k2", "k3"):
        example = dataset.examples.get(key=key)
        yield f"question {key}", reverse("graphs:question", args=[dataset.slug, example.pk])
    yield "example with steps", reverse("evaluation:example", args=[dataset.slug, example.pk])
    for response in dataset.responses.order_by("key"):
        address = reverse("evaluation:response", args=[dataset.slug, response.pk])
        yield f"cited response {response.key}", address
    yield from _asked(dataset)
    yield from _scored(folder)


def pull_pages() -> Iterator[tuple[str, str]]:
    """Yield name and address of each page that an admin has."""
    yield "graphs, of an admin", reverse("graphs:graphs")
    yield "pull", reverse("graphs:pull")
    yield "pull into a dataset", f"{reverse('graphs:pull')}?dataset=hathaways"


def _tabs(
    dataset: Dataset,
    state: str,
    pages: Iterable[str] = ("graph", "questions", "ask"),
    reports: Iterable[str] = REPORTS,
) -> Iterator[tuple[str, str]]:
    for name in pages:
        yield f"{name}, {state}", reverse(f"graphs:{name}", args=[dataset.slug])
    for name in reports:
        yield f"report {name}, {state}", reverse("graphs:report", args=[dataset.slug, name])


def _asked(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield a question whose answer is on its way, came, and did not come."""
    example = store_question(dataset, "Who was the wife of the Bard of Avon?", None)
    address = reverse("graphs:question", args=[dataset.slug, example.pk])
    experiment = ask(example, AskedOf("extractive"), None)
    yield "question, on its way", address
    work(experiment)
    yield "question, answered", address
    Checkpoint.objects.create(name="gone", backend="language-model", location="/nowhere")
    work(ask(example, AskedOf("gone"), None))
    yield "question, no answer", address


def _scored(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the reports on answers that people's minimum sets and runs of metrics are about."""
    dataset = import_cited(folder / "scored", "scored graph")
    score_citations(dataset, {("c1", 1): 0.9, ("c1", 2): 0.4, ("c2", 1): None, ("c3", 1): 0.6})
    found = {
        "na_sentences": [{"text": "Born.", "probability": 0.7}],
        "removed": [{"text": "occupation: miller", "probability": 0.7}],
    }
    said: dict[str, Any] = {"backend": "lexical", "signature": "na"}
    score_answers(dataset, "incompetence", {"c2": 0.7}, {"c2": found}, **said)
    said = {"backend": "language-model", "model_name": "small", "signature": "fluency"}
    score_answers(dataset, "fluency", {"c1": 4.0, "c3": SCRIPT}, **said)
    for name in REPORTS:
        yield f"report {name}, scored", reverse("graphs:report", args=[dataset.slug, name])
    yield "answers", reverse("graphs:answers", args=[dataset.slug])
    yield "differences", reverse("graphs:differences", args=[dataset.slug])
    answered = dataset.examples.get(key="q1")
    yield "question, aligned", reverse("graphs:question", args=[dataset.slug, answered.pk])
