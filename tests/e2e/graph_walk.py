"""The pages of knowledge graphs in every state that looks different, for the walk."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.urls import reverse

from evaluation.graphs.experiments.registry import EXPERIMENTS
from evaluation.graphs.experiments.services import ExperimentPlan, request
from generation.grids.grid_file import GridModel
from generation.models import Checkpoint, Dataset, KGQuestion
from generation.retrieval.entities import recogniser_for
from generation.services.asked_questions import AskedOf, ask, store_question
from generation.services.grids import start_grid
from generation.services.planning import PLANNINGS
from tests.construction_material import (
    add_built,
    add_entry,
    add_failed,
    add_left_out,
    make_construction,
)
from tests.evaluation.graphs.experiments.experiment_reports import (
    OVER_A_GRAPH,
    experiment_report,
)
from tests.evaluation.hand_ablated import import_answers
from tests.evaluation.hand_cited import import_cited, score_answers, score_citations
from tests.evaluation.hand_rated import rated
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
    """Yield name and address of each page that a researcher may open."""
    yield "graphs, none", reverse("graphs:graphs")
    bare = import_rows(folder / "bare", "bare graph", examples=[example_row()]).dataset
    assert bare
    yield from _tabs(bare, "no graph", ("graph", "statistics", "ask"), ("citations",))
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
    yield "graphs", reverse("graphs:graphs") + "?sort=triples&with=questions"
    yield "graphs, none found", reverse("graphs:graphs") + "?q=no+such+graph"
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
    yield from _experiments(folder, bare)
    yield from construction_pages()


def construction_pages() -> Iterator[tuple[str, str]]:
    """Yield the constructions and their entries, in each state."""
    yield "constructions, none", reverse("constructions:constructions")
    full = make_construction()
    add_left_out(full, "not_connected", SCRIPT)
    add_failed(full)
    awkward = {"name_1": SCRIPT, "relation": ARABIC, "name_2": ARABIC, "paragraph": SCRIPT}
    add_built(full, **awkward, edited_question=SCRIPT, verdict="drop", reason=SCRIPT)
    add_built(full)
    yield "constructions", reverse("constructions:constructions")
    yield "construction", reverse("constructions:construction", args=[full.pk])
    for number in (1, 2, 3, 4):
        yield f"entry {number}", reverse("constructions:entry", args=[full.pk, number])
    broken = make_construction("Broken", state="failed", error=SCRIPT)
    add_entry(broken)
    yield "construction, failed", reverse("constructions:construction", args=[broken.pk])


def pull_pages() -> Iterator[tuple[str, str]]:
    """Yield name and address of each page that an admin may open."""
    yield "graphs, of an admin", reverse("graphs:graphs")
    yield "pull", reverse("graphs:pull")
    yield "new construction", reverse("constructions:new")
    yield "pull into a dataset", f"{reverse('graphs:pull')}?dataset=hathaways"


def _tabs(
    dataset: Dataset,
    state: str,
    pages: Iterable[str] = ("graph", "questions", "statistics", "ask"),
    reports: Iterable[str] = REPORTS,
) -> Iterator[tuple[str, str]]:
    for name in pages:
        yield f"{name}, {state}", reverse(f"graphs:{name}", args=[dataset.slug])
    for name in reports:
        yield f"report {name}, {state}", reverse("graphs:report", args=[dataset.slug, name])


def _asked(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield questions whose answer is awaited, has arrived, and did not arrive."""
    example = store_question(dataset, "Who was the wife of the Bard of Avon?", None)
    address = reverse("graphs:question", args=[dataset.slug, example.pk])
    grid = ask(example, AskedOf("extractive"), None)
    yield "question, on its way", address
    work(grid)
    yield "question, answered", address
    Checkpoint.objects.create(name="gone", backend="language-model", location="/nowhere")
    work(ask(example, AskedOf("gone"), None))
    yield "question, no answer", address
    yield "questions, ad hoc", reverse("graphs:questions", args=[dataset.slug]) + "?source=asked"
    yield "delete a question", reverse("graphs:delete-question", args=[dataset.slug, example.pk])


def _scored(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the reports on answers that have minimum sets made by people, and scores by metrics."""
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
    yield "list of reports", reverse("evaluation:reports-of-dataset", args=[dataset.slug])
    for name in ("citations", "retrieval", "recipe"):  # a figure, choices, nothing to report
        yield f"page of {name}", reverse("evaluation:report-of-dataset", args=[dataset.slug, name])
    yield "answers", reverse("graphs:answers", args=[dataset.slug])
    yield "differences", reverse("graphs:differences", args=[dataset.slug])
    answered = dataset.examples.get(key="q1")
    yield "question, aligned", reverse("graphs:question", args=[dataset.slug, answered.pk])


def _experiments(folder: Path, bare: Dataset) -> Iterator[tuple[str, str]]:
    """Yield experiments without a graph, over a graph without answers, and with answers."""

    def page(dataset: Dataset, key: str) -> str:
        return reverse("graphs:experiment", args=[dataset.slug, key])

    yield "experiments, no graph", reverse("graphs:experiments", args=[bare.slug])
    yield "experiment, not possible", page(bare, "removal")
    dataset = import_answers(folder / "unasked", [], "unasked")
    yield "experiments, nothing asked", reverse("graphs:experiments", args=[dataset.slug])
    for key in EXPERIMENTS:
        yield f"experiment {key}, nothing asked", page(dataset, key)
    plan = ExperimentPlan("removal", (GridModel("extractive"),), seeds=(1, 2))
    grid = request(dataset, plan, None)
    yield "experiment, being planned", page(dataset, "removal")
    PLANNINGS.claim_and_do(grid.pk)
    yield "experiment, planned", page(dataset, "removal")
    start_grid(grid, None)
    grid.refresh_from_db()
    yield "experiment, asking", page(dataset, "removal")
    work(grid)
    yield "experiment, to be scored", page(dataset, "removal")
    plan = ExperimentPlan("accuracy", (GridModel("extractive"),), seeds=(1, 2))
    grid = request(dataset, plan, None)
    PLANNINGS.claim_and_do(grid.pk)
    start_grid(grid, None)
    grid.refresh_from_db()
    work(grid)
    KGQuestion.objects.filter(example__dataset=dataset).update(is_minimum_made_up=True)
    yield "experiments, made up", reverse("graphs:experiments", args=[dataset.slug])
    for key in OVER_A_GRAPH:
        rows = experiment_report(key, dataset).records
        groups = [row["group"] for row in rows]
        yield f"experiment {key}, unfolded", f"{page(dataset, key)}?runs={groups[0]}"
    setups = ",".join(str(pk) for pk in rows[0]["setup_ids"])
    here = reverse("graphs:answers", args=[dataset.slug])
    yield "answers of seeded runs", f"{here}?setup={setups}&experiment={key}"
    study = rated(folder / "rated")
    yield "human alignment, rated", page(study.dataset, "alignment")
    pairs = reverse("graphs:alignment-pairs", args=[study.dataset.slug, study.slug])
    yield "human alignment, pairs", pairs
