"""The effect of bf16: a run over a sample of what a run in fp32 scored, and its flipped labels."""

import math

import pytest

from evaluation.backends.base import Entailment
from evaluation.backends.registry import BACKENDS
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.precision import flips_of
from evaluation.runs.services.runs import RunError, request_precision_check
from tests.evaluation.metric_runs import mill, requested, work
from tests.evaluation.told import material_of, problems_of, rows_of
from tests.makers import example_row, response_row

pytestmark = pytest.mark.once

# Response → dialog, score in fp32, score in bf16; the threshold is 0.5.
#   r1 d1: 0.60 → 0.58, yes and yes        r3 d2: 0.90 → 0.90, yes and yes
#   r2 d1: 0.40 → 0.55, no and yes: flips  r4 d2: 0.45 → 0.50, no and no: 0.5 is not above 0.5
FP32 = {"r1": 0.60, "r2": 0.40, "r3": 0.90, "r4": 0.45}
BF16 = {"r1": 0.58, "r2": 0.55, "r3": 0.90, "r4": 0.50}


@pytest.fixture
def in_two_precisions(told, monkeypatch):
    """Let 'told' answer by response, in fp32 and bf16."""

    def tell(scores, revision=""):
        backend = told(lambda p: Entailment(scores[p.hypothesis.split()[-1]]), revision)
        both = BACKENDS["told"]._replace(precisions=("fp32", "bf16"))
        monkeypatch.setitem(BACKENDS, "told", both)
        return backend

    return tell


@pytest.fixture
def dataset(tmp_path):
    evidence = [{"id": "p1", "text": "The mill closed.", "golden": True}]
    turns = [{"speaker": "user", "text": "What?"}]
    return material_of(
        tmp_path,
        examples=[
            example_row(key, dialog=dialog, turns=turns, evidence=evidence)
            for key, dialog in {"e1": "d1", "e2": "d2"}.items()
        ],
        responses=[
            response_row(key, example, setup=key, text=f"This is {key}")
            for key, example in {"r1": "e1", "r2": "e1", "r3": "e2", "r4": "e2"}.items()
        ],
    )


def checked(run: MetricRun, **sample) -> MetricRun:
    return work(request_precision_check(run, None, **sample))


def test_flips_are_counted_at_the_threshold_with_an_interval_over_dialogs(
    dataset, in_two_precisions
):
    in_two_precisions(FP32)
    fp32 = work(requested(dataset, backend="told"))
    in_two_precisions(BF16)
    bf16 = checked(fp32)

    flips = flips_of(fp32)

    assert flips
    assert flips == flips_of(bf16)
    assert (flips.fp32, flips.bf16, flips.n, flips.n_flipped) == (fp32, bf16, 4, 1)
    assert flips.share == 0.25
    # |changes| 0.02, 0.15, 0, 0.05
    assert flips.mean_change == pytest.approx(0.055)
    assert flips.largest_change == pytest.approx(0.15)
    # Dialogs: 1 of 2, 0 of 2. Residuals 1 − 2/4 and 0 − 2/4; V = (1/4 + 1/4) / 4² × 2/1 = 1/16;
    # n = min(4, 0.25 × 0.75 / V) = 3. Student's t of 1 degree at 97.5 %: 12.7062, squared 161.448.
    # (0.25 + 161.448/6 ∓ √(161.448/3 × (0.1875 + 161.448/12))) / (1 + 161.448/3)
    assert flips.low == pytest.approx(0.00115, abs=1e-5)
    assert flips.high == pytest.approx(0.98973, abs=1e-5)


def test_the_check_says_bf16_and_all_else_as_the_run_in_fp32(dataset, in_two_precisions):
    in_two_precisions(FP32, revision="1f2e")
    fp32 = work(requested(dataset, backend="told", model_name="nli", flavor="v1", threshold=0.4))

    bf16 = request_precision_check(fp32, None)

    assert bf16.signature == "auto_ais|nli|v1|localized:2|whole|shown|bf16|t:0.4|v:3"
    made_for = {"made_for": "precision check"}
    assert bf16.parameters == fp32.parameters | {"precision": "bf16"} | made_for
    assert bf16.revision == "1f2e"
    assert request_precision_check(fp32, None) == bf16


def test_a_sample_is_drawn_by_the_seed_from_what_was_scored(tmp_path, told, in_two_precisions):
    in_two_precisions({f"{1970 + n}.": 0.9 if n else math.nan for n in range(12)})
    fp32 = work(requested(mill(tmp_path, 12), backend="told"))
    assert list(problems_of(fp32)) == ["r0"]

    def drawn(n: int, seed: int) -> set[str]:
        run = request_precision_check(fp32, None, n, seed)
        keys = set(rows_of(work(run)))
        run.scores.all().delete()
        run.chunks.all().delete()
        return keys

    assert len(drawn(5, seed=1)) == 5
    assert drawn(5, seed=1) == drawn(5, seed=1) < drawn(8, seed=1)
    assert drawn(5, seed=1) != drawn(5, seed=2)
    assert "r0" not in drawn(100, seed=1)


def test_a_run_over_a_sample_is_checked_within_it(tmp_path, in_two_precisions):
    in_two_precisions({f"{1970 + n}.": 0.9 for n in range(12)})
    fp32 = work(requested(mill(tmp_path, 12), backend="told", n_sampled=1, seed=3))
    fp32.scores.filter(target__response__key="r1").delete()

    assert set(rows_of(checked(fp32, n=4))) < set(rows_of(fp32))


def test_there_is_nothing_to_say_before_both_have_scored_the_same(dataset, in_two_precisions):
    in_two_precisions(FP32)
    fp32 = work(requested(dataset, backend="told"))
    assert flips_of(fp32) is None

    bf16 = request_precision_check(fp32, None)
    assert flips_of(fp32) is None
    assert flips_of(bf16) is None

    target = fp32.scores.earliest("pk").target
    AutoScore.objects.create(run=bf16, target=target, problem="no answer")
    assert flips_of(fp32) is None


@pytest.mark.parametrize("change", [{"flavor": "v1"}, {"evidence": "golden"}], ids=str)
def test_runs_of_other_choices_are_not_compared(dataset, in_two_precisions, change):
    in_two_precisions(FP32)
    fp32 = work(requested(dataset, backend="told"))
    checked(work(requested(dataset, backend="told", **change)))

    assert flips_of(fp32) is None


def test_another_revision_is_not_compared(dataset, in_two_precisions):
    in_two_precisions(FP32, revision="1f2e")
    fp32 = work(requested(dataset, backend="told"))
    in_two_precisions(BF16, revision="9a9a")
    checked(fp32)

    assert flips_of(fp32) is None


def test_what_cannot_be_checked_is_refused(dataset, told, in_two_precisions):
    told(0.9)
    with pytest.raises(RunError, match="“Told” computes in one precision only"):
        request_precision_check(work(requested(dataset, backend="told")), None)
    in_two_precisions(FP32)
    empty = requested(dataset, backend="told", flavor="v1")
    with pytest.raises(RunError, match="scored nothing yet"):
        request_precision_check(empty, None)
    with pytest.raises(RunError, match="already in bf16"):
        request_precision_check(requested(dataset, backend="told", precision="bf16"), None)
    imported = MetricRun.objects.create(dataset=dataset, metric="rouge", is_imported=True)
    with pytest.raises(RunError, match="imported"):
        request_precision_check(imported, None)
    assert flips_of(imported) is None
