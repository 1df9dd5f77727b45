"""A new metric and a new backend: each takes one small class and one line in a registry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, NamedTuple, Self

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.backends.registry import BACKENDS, BackendKind
from evaluation.metrics.base import (
    Assumed,
    AutoMetric,
    Option,
    Refused,
    ResponseScore,
    ScoreRequest,
    ScoringMaterial,
)
from evaluation.metrics.registry import METRICS
from evaluation.models import MetricRun
from tests.evaluation.commands import failure
from tests.evaluation.metric_runs import mill, work
from tests.evaluation.told import rows_of
from tests.shown import shown

pytestmark = pytest.mark.once


class Text(NamedTuple):
    """A text that the new backend is asked about."""

    text: str


class Counter:
    """The new backend: says how many words a text has."""

    signature = "counter|v:1"
    revision = ""
    files: dict[str, str] = {}
    device = "cpu"

    def n_words(self, texts: Sequence[Text]) -> list[int]:
        return [len(each.text.split()) for each in texts]


@dataclass(frozen=True)
class Terse(AutoMetric):
    """The new metric: 1 for a response with a given number of words or fewer."""

    most_words: int = 4

    key = "terse"
    title = "Terse"
    lede = "Whether a response is short."
    backends = ("counter",)
    options = (Option("most_words", "Most words", low=1, high=99),)

    @classmethod
    def made(cls, parameters: Mapping[str, Any]) -> Self:
        return cls(parameters.get("most_words", cls.most_words))

    @property
    def parameters(self) -> dict[str, Any]:
        return {"most_words": self.most_words}

    @property
    def signature_part(self) -> str:
        return f"most:{self.most_words}"

    def asked(self, material: ScoringMaterial) -> ScoreRequest | Refused | Assumed:
        return ScoreRequest([Text(material.text)])

    def answers(self, backend: Counter, asks: Sequence[Text]) -> Sequence[int]:
        return backend.n_words(asks)

    def scored(self, asked: ScoreRequest, answers: Sequence[int]) -> ResponseScore:
        return ResponseScore(float(answers[0] <= self.most_words))


@pytest.fixture(autouse=True)
def dataset(monkeypatch, tmp_path):
    """Put both into their registries; two responses, of four and of five words."""
    monkeypatch.setitem(METRICS, "terse", Terse)
    counter = BackendKind("Counter", lambda spec: Counter(), needs_model=False)
    monkeypatch.setitem(BACKENDS, "counter", counter)
    dataset = mill(tmp_path, 2)
    dataset.responses.filter(key="r1").update(text="It closed in 1971, sadly.")
    return dataset


def scores_of(run: MetricRun) -> dict[str, float | None]:
    return {key: row.score for key, row in rows_of(run).items()}


def test_the_command_runs_it_with_its_own_option():
    out = StringIO()

    call_command("run_metric", "terse", "--dataset", "mill", stdout=out)
    call_command("run_metric", "terse", "--dataset=mill", "--most-words=5", stdout=out)

    said = out.getvalue().splitlines()
    assert [line.partition(", ")[0] for line in said] == [
        f"terse|counter|most:{most}|t:0.5|v:1|counter|v:1: 2 of 2 responses scored"
        for most in (4, 5)
    ]
    assert said[0].endswith("0 of 2 prompts cut short.")
    four, five = MetricRun.objects.order_by("pk")
    assert (scores_of(four), scores_of(five)) == ({"r0": 1, "r1": 0}, {"r0": 1, "r1": 1})


def test_the_command_refuses_what_it_has_not():
    said = failure("run_metric", "terse", "--dataset", "mill", "--flavor", "v1")
    assert said == "--flavor: Terse has no option flavor. Its options are: most_words."
    said = failure("run_metric", "auto_ais", "--dataset", "mill", "--backend", "counter")
    assert said.startswith("--model: Auto-AIS cannot use Counter. It can use: Added words")


def test_the_page_offers_and_starts_it(rosa, client_for):
    client = client_for(rosa)
    address = reverse("evaluation:start-run")

    form = shown(client.get(address, {"metric": "terse"}))
    chosen = {"metric": "terse", "model": "counter", "over": "dataset:mill", "threshold": 0.5}
    answer = client.post(address, chosen | {"shown": "terse", "most_words": 5, "seed": 0})

    assert "most_words" in form.fields
    run = work(MetricRun.objects.get())
    assert answer.url == reverse("evaluation:run", args=[run.pk])
    assert scores_of(run) == {"r0": 1, "r1": 1}
    assert "Terse" in shown(client.get(answer.url)).text


def test_the_api_takes_it(rosa, client_for):
    asked = {"dataset": "mill", "metric": "terse", "most_words": 3}

    client_for(rosa).post("/api/v1/runs/", asked, content_type="application/json")

    assert scores_of(work(MetricRun.objects.get())) == {"r0": 0, "r1": 0}
