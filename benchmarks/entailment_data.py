"""The measurement of `entailment.py --data`: Attest scores published answers."""

import csv
import json
import os
import random
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluation.measures.entailment import AutoAis, EntailmentError, EvidencePassage, ask
from generation.model_specs import ModelSpec

if TYPE_CHECKING:
    from evaluation.models import MetricRun

ROOT = Path(__file__).parent.parent
CHOICES = AutoAis("v3", 2, "mean")
THRESHOLD = 0.5


class Answer(NamedTuple):
    """A published answer with its question and evidence."""

    question: str
    evidence: tuple[str, ...]
    text: str


def measured_on_data(
    checkpoint: Path, data: str, n_pairs: int, temporary: Path
) -> dict[str, float]:
    """Return the share of labels that bf16 changes, and the gain when scores are known already."""
    shared = Path(os.environ.get("ATTEST_SHARED", ROOT.parent / "shared"))
    everything = list(READERS[data](shared / "data"))
    answers = sample(everything, n_pairs)
    say(f"{data}: {len(answers)} of {len(everything)} answers\n")
    begin_django(temporary)
    spec = ModelSpec("transformers", name="model", location=str(checkpoint))
    low, _ = scored(imported(answers, "low", temporary), spec._replace(precision="bf16"))
    dataset = imported(answers, "first", temporary)
    again = imported(answers, "again", temporary)
    high, seconds = scored(dataset, spec)
    repeated, seconds_again = scored(again, spec)
    if any(not row.is_reused for row in repeated.scores.exclude(score=None)):
        sys.exit("a response whose score was known was scored again")
    labels, labels_low = sentence_labels(high), sentence_labels(low)
    flips = [labels[place] != labels_low[place] for place in labels.keys() & labels_low.keys()]
    say(f"CPU seconds: {seconds:.2f}, the same again {seconds_again:.2f}\n")
    return {
        "flipped_share": sum(flips) / len(flips),
        "flipped": sum(flips),
        "sentences": len(flips),
        "without_score": high.scores.filter(score=None).count(),
        "cached_gain": seconds / seconds_again,
    }


def sample(answers: Iterable[Answer], n_pairs: int, seed: int = 4) -> list[Answer]:
    """Return answers in seeded order, until they make at least `n_pairs` pairs."""
    order = list(answers)
    random.Random(seed).shuffle(order)
    found: list[Answer] = []
    n = 0
    for answer in order:
        passages = [EvidencePassage(at, text) for at, text in enumerate(answer.evidence)]
        try:
            n += len(ask(CHOICES, passages, answer.question, answer.text).asks)
        except EntailmentError:
            continue
        found.append(answer)
        if n >= n_pairs:
            break
    return found


# --- published files ------------------------------------------------------------------------


def begin(folder: Path) -> Iterator[Answer]:
    for path in sorted((folder / "begin").glob("begin_dev_*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                yield Answer(row["message"] or "", (row["knowledge"],), row["response"])


def qags(folder: Path) -> Iterator[Answer]:
    for line in (folder / "qags" / "mturk_xsum.jsonl").read_text("utf-8").splitlines():
        item = json.loads(line)
        for sentence in item["summary_sentences"]:
            yield Answer("Summarise the article.", (item["article"],), sentence["sentence"])


def mtrag(folder: Path) -> Iterator[Answer]:
    path = folder / "mtrag_human_eval" / "mtrag_human_eval_part1.json"
    found = json.loads(path.read_text("utf-8"))
    texts = {document["document_id"]: document["text"] for document in found["documents"]}
    tasks = {task["task_id"]: task for task in found["tasks"]}
    for evaluation in found["evaluations"]:
        task = tasks[evaluation["task_id"]]
        asked = [turn["text"] for turn in task["input"] if turn["speaker"] == "user"]
        evidence = tuple(texts[context["document_id"]] for context in task["contexts"])
        if evidence:
            yield Answer(asked[-1], evidence, evaluation["model_response"])


READERS = {"begin": begin, "qags": qags, "mtrag": mtrag}


# --- the product ----------------------------------------------------------------------------


def begin_django(folder: Path) -> None:
    """Set up Django with an empty database of its own."""
    os.environ |= {
        "DATABASE_URL": f"sqlite:///{folder / 'benchmark.sqlite3'}",
        "ATTEST_DATA_DIR": str(folder / "var"),
        "DJANGO_DEBUG": "0",  # in debug mode Django would keep every statement
        "DJANGO_SECRET_KEY": "benchmark" * 6,
        "DJANGO_ALLOWED_HOSTS": "localhost",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def imported(answers: Iterable[Answer], name: str, temporary: Path) -> Any:
    """Import answers as a dataset; its setup has the same name."""
    from django.core.management import call_command

    from generation.models import Dataset

    folder = temporary / name
    folder.mkdir()
    with (
        (folder / "examples.jsonl").open("w", encoding="utf-8") as examples,
        (folder / "responses.jsonl").open("w", encoding="utf-8") as responses,
    ):
        for at, answer in enumerate(answers):
            evidence = [
                {"id": f"{at}-{number}", "text": text, "golden": True}
                for number, text in enumerate(answer.evidence)
            ]
            turns = [{"speaker": "user", "text": answer.question or "?"}]
            example = {"id": f"e{at}", "turns": turns, "evidence": evidence}
            response = {"id": f"r{at}", "example": f"e{at}", "setup": name, "text": answer.text}
            shown = {"evidence_shown": [each["id"] for each in evidence]}
            examples.write(json.dumps(example) + "\n")
            responses.write(json.dumps(response | shown) + "\n")
    call_command("import_dataset", str(folder), name=name, stdout=sys.stderr)
    return Dataset.objects.get(name=name)


def scored(dataset: Any, spec: ModelSpec) -> "tuple[MetricRun, float]":
    """Return a finished run over a dataset, and its CPU seconds, without the model's loading."""
    from evaluation.backends.registry import open_backend
    from evaluation.metrics.auto_ais import AutoAisMetric
    from evaluation.runs.plan import RunPlan
    from evaluation.runs.services.chunks import RUN_CHUNKS
    from evaluation.runs.services.runs import request_metric_run

    open_backend(spec)
    began = time.process_time()
    plan = RunPlan(spec, AutoAisMetric(CHOICES))
    run = request_metric_run(dataset, plan, dataset.responses.all(), None)
    while claim := RUN_CHUNKS.claim_next(run):
        RUN_CHUNKS.do(claim)
    seconds = time.process_time() - began
    run.refresh_from_db()
    if run.state != run.State.DONE:
        sys.exit(f"the run over {dataset.name} is {run.state}: {run.error}")
    return run, seconds


def sentence_labels(run: "MetricRun") -> dict[tuple[str, int], bool]:
    """Return the label of each sentence: whether its best window's probability is above 0.5."""
    rows = run.scores.exclude(score=None).select_related("target__response")
    return {
        (row.target.response.key, window["sentence"]): window["probability"] > THRESHOLD
        for row in rows
        for window in row.windows
    }


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
