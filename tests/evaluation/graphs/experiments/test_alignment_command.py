"""The command `run_kg_experiment alignment` plans a study, prints its table, and keeps scores."""

import io
import json

import pytest
from django.core.management import call_command

from annotation.models import Study
from evaluation.models import AutoScore, MetricRun
from tests.annotation.makers import rater_users
from tests.evaluation.commands import failure
from tests.evaluation.hand_rated import pairs_of, rated

pytestmark = pytest.mark.once


def run(*arguments):
    out = io.StringIO()
    call_command("run_kg_experiment", "alignment", "--dataset", "pairs", *arguments, stdout=out)
    return out.getvalue()


def test_the_table_of_a_study_is_printed_and_nothing_is_scored(tmp_path):
    rated(tmp_path)
    kept = [set(model.objects.values_list("pk", flat=True)) for model in (MetricRun, AutoScore)]

    [one, everything] = json.loads(run("--study", "rated", "--format", "json"))["rows"]

    assert (one["label"], everything["label"]) == ("one", "all models")
    assert one["human"] == pytest.approx(0.7)  # computed by hand, see `hand_rated`
    assert "all models" in run("--study", "rated")
    now = [set(model.objects.values_list("pk", flat=True)) for model in (MetricRun, AutoScore)]
    assert now == kept


def test_a_study_is_planned_once(tmp_path):
    pairs_of(tmp_path, models=("one", "two"))
    rater_users(2)
    new = ("--new-study", "Six", "--models", "one", "--pairs", "3", "--raters", "all")

    assert run(*new) == run(*new) == "Six is planned, with 2 raters.\n"

    study = Study.objects.get()
    assert (study.n_sampled, study.seed, study.raters_per_unit) == (3, 13, 2)
    assert {setup.model for setup in study.setups.all()} == {"one"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["alignment", "--new-study", "x", "--models", "three"], "There are no responses of three"),
        (["alignment", "--new-study", "x", "--pairs", "0"], "--pairs: found 0"),
        (["alignment", "--new-study", "x", "--study", "y"], "Leave --study out"),
        (["citations", "--new-study", "x"], "--new-study: Citation quality is about a dataset"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_made(tmp_path, arguments, said):
    pairs_of(tmp_path)

    key, *more = arguments
    assert said in failure("run_kg_experiment", key, "--dataset", "pairs", *more)
    assert not Study.objects.exists()
