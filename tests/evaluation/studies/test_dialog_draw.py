"""Studies whose dialogs a metric's scores drew: the draw, the weights, and what is refused."""

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from django.urls import reverse
from scipy import stats

from accounts.access import Role
from annotation.models import DrawnDialog, Study
from annotation.services.claiming import claim_next_unit
from annotation.services.studies import (
    StudyError,
    change_study,
    extend_study,
    open_study,
)
from annotation.study_file import StudyFileError, read_study_facts
from annotation.study_plan import StudyPlan
from evaluation.exchange.services import delete_dataset
from evaluation.reports.registry import CannotReport, all_reports
from evaluation.runs.names import run_key
from evaluation.studies.reports.plan import pilots_of
from evaluation.studies.reports.prediction_powered import (
    PredictionPoweredChoices,
    prediction_powered_report,
)
from evaluation.studies.reports.scenarios import of_questions, scenarios_report
from evaluation.studies.reports.uniform_draw import WITH_ANY_DRAW
from evaluation.studies.services.dialog_draws import draw_dialogs
from evaluation.tradeoffs.axes import axes_of
from evaluation.votes.export import export_folder
from generation.importers.errors import DatasetError
from tests.annotation.makers import material, planned, rate, raters_of
from tests.conftest import person
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.studies.few_labels import DRAWN, few_labels, few_labels_rows
from tests.makers import (
    example_row,
    import_path,
    import_rows,
    response_row,
    scheme_of,
    vote_row,
)
from tests.shown import shown

pytestmark = pytest.mark.once
# The example of `test_inclusion_probabilities`, one response for each dialog.
SCORES = [0.9, 0.8, 0.3, 0.7, 0.4, 0.6, 0.95, 0.2, 0.5, 0.85, 0.6, 0.9]
ANSWERS = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1]
KEYS = [f"e{number}" for number in range(1, 13)]
ACTIVE = [0.346774, 0.443548, 0.540323, 0.540323, 0.637097, 0.637097]
ACTIVE += [0.298387, 0.443548, 0.733871, 0.395161, 0.637097, 0.346774]


@pytest.fixture(autouse=True)
def own_cache(own_cache_and_folder):
    """Keep this module's computed results apart from those of other tests."""


@pytest.fixture
def dataset(tmp_path):
    return material(tmp_path / "pilot", n_examples=12, setups=("cool",))


@pytest.fixture
def run(dataset):
    made = make_run(dataset)
    make_scores(made, {f"{key}-cool": s for key, s in zip(KEYS, SCORES, strict=True)})
    return made


@pytest.fixture
def study(dataset):
    return planned(dataset, scheme="AIS_2", raters=1, raters_per_unit=1, n_sampled=6)


def rated(study, run):
    """Draw by the run, open the study, and let its rater answer as ANSWERS says."""
    draw_dialogs(study, "active", run, None)
    open_study(study, None)
    [rater] = raters_of(study)
    while assignment := claim_next_unit(rater):
        is_yes = ANSWERS[KEYS.index(assignment.unit.example.key)]
        rate(rater, assignment, {"interpretable": 1, "attributable": is_yes})
    return Study.objects.get(pk=study.pk)


def drawn_of(study):
    return [each.dialog for each in study.drawn_dialogs.filter(is_drawn=True)]


def test_the_probabilities_of_an_active_draw_are_stored_and_six_dialogs_are_rated(study, run):
    done = draw_dialogs(study, "active", run, None)

    stored = dict(study.drawn_dialogs.values_list("dialog", "probability"))
    assert [stored[key] for key in KEYS] == pytest.approx(ACTIVE, abs=1e-6)
    assert (done.n_drawn, done.n_dialogs, done.n_without_score) == (6, 12, 0)
    assert (study.draw, study.drawn_by) == ("active", f"auto_ais: {run.signature}")
    open_study(study, None)
    rated_here = study.arms.get().units.values_list("example__dialog", flat=True)
    assert sorted(rated_here) == sorted(drawn_of(study))
    assert len(rated_here) == 6


def test_strata_have_their_numbers(study, run):
    """There are four strata of three dialogs, and each gets one at least."""
    draw_dialogs(study, "stratified", run, None)

    in_order = sorted(KEYS, key=lambda key: SCORES[KEYS.index(key)])
    drawn = drawn_of(study)
    n_of_each = [sum(key in drawn for key in in_order[n : n + 3]) for n in range(0, 12, 3)]
    stored = dict(study.drawn_dialogs.values_list("dialog", "probability"))
    assert sum(n_of_each) == 6
    assert n_of_each == [round(3 * stored[in_order[n]]) for n in range(0, 12, 3)]
    assert min(n_of_each) >= 1


def test_the_means_have_weights_by_raters_alone(study, run):
    study = rated(study, run)
    weights = {key: 1 / p for key, p in zip(KEYS, ACTIVE, strict=True)}
    drawn = drawn_of(study)
    yes = sum(weights[key] for key in drawn if ANSWERS[KEYS.index(key)])
    expected = yes / sum(weights[key] for key in drawn)

    [_, row] = of_questions(scenarios_report(study).rows)

    assert row.question == "attributable"
    assert row.mean.value == pytest.approx(expected, abs=1e-5)
    low, high = row.mean.low, row.mean.high
    assert low is not None
    assert high is not None
    assert low < expected < high
    few = prediction_powered_report(study, PredictionPoweredChoices(question="attributable"))
    assert few.rows[0].human_mean.value == pytest.approx(expected, abs=1e-5)
    assert few.rows[0].why == "There are fewer than 30 labels."


def test_what_has_no_weights_is_refused_everywhere(study, run, researcher):
    study = rated(study, run)
    reports = {key: kind for key, kind in all_reports().items() if kind.about is Study}

    assert reports.keys() >= WITH_ANY_DRAW
    for key in reports.keys() - WITH_ANY_DRAW:
        with pytest.raises(CannotReport, match="drawn with different probabilities"):
            reports[key].make(study, reports[key].chosen(study, {}))
        answer = researcher.get(f"/api/v1/studies/{study.slug}/reports/{key}/")
        assert answer.status_code == 404
        assert "different probabilities" in answer.json()["detail"]
    for name in ("study-raters", "study-metrics", "study-merged"):
        page = shown(researcher.get(reverse(f"evaluation:{name}", args=[study.slug])))
        assert "drawn with different probabilities" in page.text
    study.refresh_from_db()
    assert study.n_looks == 0  # no page showed a figure
    for name in ("agreement.csv", "raters.csv"):
        assert researcher.get(f"/studies/{study.slug}/{name}").status_code == 404
    address = reverse("evaluation:threshold-choice", args=[study.slug])
    assert researcher.get(address).status_code == 404
    with pytest.raises(CommandError, match="different probabilities"):
        call_command("choose_threshold", study=study.slug)
    assert pilots_of(study.dataset) == []
    assert [axis for axis in axes_of(study.dataset) if axis.arm] == []


def test_the_first_page_and_the_methods_have_the_weighted_means(study, run, researcher):
    study = rated(study, run)

    page = shown(researcher.get(reverse("evaluation:study", args=[study.slug])))

    assert "means are weighted by 1 / probability" in page.text
    assert researcher.get(reverse("evaluation:study-methods", args=[study.slug])).status_code == 200
    assert researcher.get(f"/studies/{study.slug}/scenarios.csv").status_code == 200


def draw_in_api(study, client):
    found = client.get(f"/api/v1/studies/{study.slug}/").json()
    names = ("n_sampled", "n_drawn_from", "draw", "drawn_by", "has_uniform_draw")
    return {name: found[name] for name in names}


def test_an_export_and_its_import_have_the_same_means_and_draw(
    study, run, tmp_path, adam, researcher
):
    study = rated(study, run)
    drawn = draw_in_api(study, researcher)
    assert drawn == {
        "n_sampled": 6,
        "n_drawn_from": 12,
        "draw": "active",
        "drawn_by": f"auto_ais: {run.signature}",
        "has_uniform_draw": False,
    }
    [_, before] = of_questions(scenarios_report(study).rows)
    export_folder(study.dataset, study, tmp_path / "export")
    delete_dataset(study.dataset, adam)

    again = import_path(tmp_path / "export", "again").study

    assert again is not None
    assert draw_in_api(again, researcher) == drawn
    [_, after] = of_questions(scenarios_report(again).rows)
    assert after.mean == before.mean


def test_a_changed_study_must_be_drawn_again_and_a_drawn_one_cannot_grow(study, run):
    draw_dialogs(study, "active", run, None)
    plan = StudyPlan("Pilot", study.dataset, study.scheme, list(study.setups.all()), n_sampled=5)
    change_study(study, plan._replace(n_sampled=6, introduction="Welcome."), None)
    assert (study.draw, study.drawn_dialogs.count()) == ("active", 12)

    change_study(study, plan, None)
    assert (study.draw, study.drawn_dialogs.count()) == ("uniform", 0)
    draw_dialogs(study, "active", run, None)
    open_study(study, None)
    with pytest.raises(StudyError, match="cannot grow"):
        extend_study(study, None, n_sampled=7)


def test_other_dialogs_than_when_it_was_drawn_stop_a_study_from_opening(study, run):
    draw_dialogs(study, "active", run, None)
    study.dataset.examples.filter(key="e1").update(dialog="another")

    with pytest.raises(StudyError, match="Draw again"):
        open_study(study, None)


def test_without_a_sample_there_is_nothing_to_draw(dataset, run):
    study = planned(dataset, raters=1, raters_per_unit=1)

    with pytest.raises(StudyError, match="Set its sample first"):
        draw_dialogs(study, "active", run, None)


def test_a_run_without_scores_draws_nothing(study):
    with pytest.raises(StudyError, match="no score of what the study rates"):
        draw_dialogs(study, "active", make_run(study.dataset), None)


@pytest.mark.parametrize("probability", [0, 1.5])
def test_the_database_holds_no_other_probabilities(study, probability):
    with pytest.raises(IntegrityError):
        DrawnDialog.objects.create(study=study, dialog="d", probability=probability, is_drawn=False)


def test_researchers_draw_on_the_page_and_by_the_command(study, run, researcher, client_for):
    address = reverse("evaluation:dialog-draw", args=[study.slug])
    posted = {"draw": "active", "run": run_key(run)}

    assert client_for(person("rita", Role.RATER)).post(address, posted).status_code == 403
    missing = researcher.post(address, {"draw": "active"})
    assert missing.status_code == 422
    assert "Choose a run" in missing.content.decode()
    assert researcher.get(address).status_code == 200
    assert researcher.post(address, posted).status_code == 302
    first = drawn_of(study)
    assert len(first) == 6

    call_command("draw_dialogs", study.slug, draw="uniform")
    assert Study.objects.get(pk=study.pk).draw == "uniform"
    call_command("draw_dialogs", study.slug, draw="active", metric=run_key(run))
    assert drawn_of(study) == first
    with pytest.raises(CommandError, match="no metric 'nothing'"):
        call_command("draw_dialogs", study.slug, draw="active", metric="nothing")


def test_an_imported_study_has_the_probabilities_of_its_file(tmp_path):
    """Half of the dialogs had twice the probability, so the others count twice as much."""
    some = sorted(DRAWN)[::2]
    probabilities = {dialog: 0.8 if dialog in some else 0.4 for dialog in DRAWN}
    rows = few_labels_rows(probabilities=probabilities)
    study = few_labels(tmp_path, probabilities=probabilities)
    is_yes = {vote["response"]: vote["answer"] == "yes" for vote in rows["votes"]}
    yes = sum(is_yes[f"{each}-first"] / p for each, p in probabilities.items())

    [row, *_] = prediction_powered_report(study, PredictionPoweredChoices()).rows

    assert row.setup == "first"
    assert row.human_mean.value == pytest.approx(yes / (20 / 0.8 + 20 / 0.4))
    assert row.why is None
    assert row.mean.value != row.human_mean.value
    assert (row.n_labels, row.n_scored) == (40, 40)

    import_rows(
        tmp_path / "more",
        "few",
        examples=[example_row("d99", dialog="d99")],
        responses=[response_row("d99-first", "d99", setup={"model": "first"})],
    )
    [grown, *_] = prediction_powered_report(study, PredictionPoweredChoices()).rows

    assert grown.human_mean == row.human_mean
    assert grown.mean.value is None
    assert grown.why == "The rated dialogs are no sample that was drawn here from all dialogs."


HALF = {"d1": 0.5, "d2": 0.5}


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"probabilities": {"d1": 0}}, "found .*d1.*; expected .* numbers from 0.000001 to 1"),
        ({"probabilities": {"d1": 1e-200}}, "numbers from 0.000001 to 1"),
        ({"probabilities": {"d1": True}}, "numbers from 0.000001 to 1"),
        ({"probabilities": HALF}, "found 2 dialogs; .* n_sampled says, which is nothing"),
        ({"probabilities": HALF, "n_sampled": 1}, "found 2 dialogs; .* which is 1"),
        ({"probabilities": HALF, "n_sampled": 2}, "n_drawn_from: found nothing; .* the 2 were"),
        (
            {"probabilities": HALF, "n_sampled": 2, "n_drawn_from": 1},
            "n_drawn_from: found 1; expected the number of dialogs",
        ),
    ],
)
def test_a_file_with_other_probabilities_is_refused(facts, message):
    with pytest.raises(StudyFileError, match=message):
        read_study_facts(facts)


def test_drawn_dialogs_without_votes_do_not_narrow_an_interval(tmp_path):
    """Four dialogs with the weight 1 and four with 4 tell as much as 20² / 68 = 5.88 equal ones.

    All answers are yes, and Wilson's interval then begins at n / (n + t²).
    """
    names = [f"d{n:02}" for n in range(30)]
    probabilities = {name: 0.25 if n < 4 else 1 for n, name in enumerate(names[:28])}
    study = import_rows(
        tmp_path,
        examples=[example_row(name, dialog=name) for name in names],
        responses=[response_row(name, name) for name in names],
        votes=[vote_row(name, "w1", "yes", "good") for name in names[:8]],
        scheme=scheme_of({"good": "yes_no"}),
        study={"n_sampled": 28, "n_drawn_from": 30, "probabilities": probabilities},
    ).study
    assert study is not None
    n, t = 20**2 / 68, stats.t.ppf(0.975, 7)

    [row] = of_questions(scenarios_report(study).rows)

    assert (row.mean.value, row.mean.high) == (1, 1)
    assert row.mean.low == pytest.approx(n / (n + t**2), abs=1e-5)


def pair_rows(**facts):
    """Return two dialogs of three that were drawn from, both with votes."""
    names = ["d1", "d2", "d3"]
    return {
        "examples": [example_row(name, dialog=name) for name in names],
        "responses": [response_row(name, name) for name in names],
        "votes": [vote_row(name, "w1", "yes", "good") for name in names[:2]],
        "scheme": scheme_of({"good": "yes_no"}),
        "study": {"n_sampled": 2, "n_drawn_from": 3} | facts,
    }


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("zzz", r'study.json, probabilities: found "zzz", which is no dialog of the dataset; exp'),
        (
            "d3",
            r'study.json, probabilities: found no probability of "d2", a dialog with votes; exp',
        ),
    ],
)
def test_probabilities_of_other_dialogs_than_the_rated_ones_are_refused(tmp_path, other, message):
    with pytest.raises(DatasetError, match=message):
        import_rows(tmp_path, **pair_rows(probabilities={"d1": 0.5, other: 0.25}))

    assert not Study.objects.exists()


def test_later_rows_cannot_change_the_probabilities(tmp_path):
    probabilities = {"d1": 0.5, "d2": 0.25}
    import_rows(tmp_path / "first", **pair_rows(probabilities=probabilities))
    import_rows(tmp_path / "again", **pair_rows(probabilities=probabilities))

    with pytest.raises(DatasetError, match=r"probabilities: found .*0.3.*; expected .*0.25.*, as"):
        import_rows(tmp_path / "b", **pair_rows(probabilities={"d1": 0.5, "d2": 0.3}))
    with pytest.raises(DatasetError, match='no probability of "d3"'):
        import_rows(tmp_path / "c", votes=[vote_row("d3", "w1", "yes", "good")])
