"""Gold items: known answers that every rater gets, qualification, and raters who fall below."""

from functools import partial

import pytest
from django.urls import reverse

from annotation.models import Assignment, GoldAnswer, Unit, Vote
from annotation.rated_units import rated_unit
from annotation.schemes import built_in_schemes
from annotation.services.claiming import claim_next_unit
from annotation.services.gold import set_gold
from annotation.services.rating import (
    flag_responses,
    skip_unit,
    submit_votes,
)
from annotation.services.studies import (
    StudyError,
    add_raters,
    change_study,
    open_study,
)
from annotation.study_plan import StudyPlan
from evaluation.reports.base import Choices
from evaluation.studies.reports.raters import raters_report
from evaluation.votes.export import export_folder
from tests.annotation.makers import (
    claimed,
    judged,
    material,
    n_statements,
    planned,
    rate,
    rate_next,
    rater_users,
    raters_of,
    researcher,
)
from tests.makers import forget, import_path
from tests.shown import shown

pytestmark = pytest.mark.once
GOOD = {"sensible": 1, "specific": 1}
BAD = {"sensible": 0}


@pytest.fixture
def study(tmp_path):
    """An SSA study of six responses, of which e1-cool is known to be bad and e2-cool good."""
    dataset = material(tmp_path / "data", n_examples=3)
    study = planned(dataset, scheme="SSA", raters=6)
    set_gold(
        study,
        {"e1-cool": BAD, "e2-cool": GOOD},
        researcher(),
        n_qualifying=2,
        threshold=0.6,
    )
    open_study(study, researcher())
    return study


def response_of(assignment: Assignment) -> str:
    return assignment.unit.targets.get().response.key


def known_or_good(assignment: Assignment) -> dict[str, int]:
    return BAD if response_of(assignment) == "e1-cool" else GOOD


def test_known_answers_are_a_full_form_with_what_gates_imply(study):
    known = GoldAnswer.objects.filter(target__response__key="e1-cool")

    assert dict(known.values_list("question", "answer")) == {"sensible": 0, "specific": 0}


def test_everybody_gets_all_gold_items_first_and_each_once(study):
    for rater in raters_of(study):
        met = []
        for _ in range(2):
            held = claimed(rater)
            met.append(response_of(held))
            rate(rater, held, known_or_good(held))
        assert sorted(met) == ["e1-cool", "e2-cool"]
        assert rater.gold_score == 1.0

    assert Unit.objects.filter(is_gold=True).count() == 2
    assert Unit.objects.filter(is_gold=False).count() == 4


def test_who_is_under_the_threshold_gets_nothing_more_and_is_excluded(study):
    careless, careful, *_ = raters_of(study)
    for _ in range(2):
        rate(careless, claimed(careless), GOOD)
        held = claimed(careful)
        rate(careful, held, known_or_good(held))

    # e1-cool: both answers wrong, e2-cool: both right, so 2 of 4
    assert careless.gold_score == 0.5
    assert careless.is_excluded
    assert claim_next_unit(careless) is None
    assert not careful.is_excluded
    assert claim_next_unit(careful) is not None


def test_gold_items_are_in_no_figure_and_in_no_export(study, tmp_path):
    rater, *_ = raters_of(study)
    while (held := claim_next_unit(rater)) is not None:
        rate(rater, held, known_or_good(held))

    report = raters_report(study, Choices())
    export_folder(study.dataset, study, tmp_path / "out")

    assert Vote.objects.filter(question="sensible").count() == 6
    assert report.records[0]["n"] == 4
    assert report.left_out["gold_items"] == 2
    assert report.left_out["unrated_responses"] == 0
    votes = (tmp_path / "out" / "votes.csv").read_text()
    assert "e1-warm" in votes
    assert "e1-cool" not in votes


def test_who_joins_later_meets_the_gold_items_too(study):
    [newcomer] = rater_users(7)[6:]
    add_raters(study, [newcomer], researcher())

    held = claimed(study.raters.select_related("study").get(user=newcomer))

    assert held.unit.is_gold


def test_a_share_counts_gold_items_for_everybody(study):
    rater = raters_of(study)[0]

    page = rated_unit(rater, claimed(rater).unit_id)

    # four units × five raters / six raters, rounded up, and two gold items
    assert page
    assert page.share.n_share == 4 + 2


def test_a_gold_item_costs_no_more_statements_than_another(study):
    rater, *_ = raters_of(study)
    costs = []
    for _ in range(3):
        n_claim = n_statements(lambda: claim_next_unit(rater))
        held = claimed(rater)
        answers, unit = judged(rater, held, known_or_good(held)), held.unit
        n_submit = n_statements(partial(submit_votes, unit, rater, answers, 5.0))
        costs.append((unit.is_gold, n_claim, n_submit))

    assert [is_gold for is_gold, *_ in costs] == [True, True, False]
    assert len({n_claim for _, n_claim, _ in costs}) == 1
    assert max(n_submit for *_, n_submit in costs) <= 6


@pytest.mark.parametrize(
    ("answers", "numbers", "said"),
    [
        ({"nobody": GOOD}, {}, "the key of a response that can be chosen"),
        ({"e1-cool": {"specific": 1}}, {}, "an answer to every question"),
        ({"e1-cool": GOOD}, {"n_qualifying": 2}, "expected at most 1"),
        ({"e1-cool": GOOD}, {"threshold": 1.5}, "from 0 to 1"),
    ],
)
def test_gold_that_does_not_fit_is_refused_and_changes_nothing(tmp_path, answers, numbers, said):
    study = planned(material(tmp_path), scheme="SSA")

    with pytest.raises(StudyError, match=said):
        set_gold(study, answers, researcher(), **numbers)

    assert not GoldAnswer.objects.exists()


def test_gold_needs_the_separate_arm(tmp_path):
    study = planned(material(tmp_path), scheme="SSA", arms=["merged"])

    with pytest.raises(StudyError, match="separate arm"):
        set_gold(study, {"e1-cool": GOOD}, researcher())


def test_who_skips_or_flags_gold_items_does_not_qualify(study):
    skipping, flagging, *_ = raters_of(study)
    for _ in range(2):
        skip_unit(claimed(skipping).unit, skipping, "Another reason")
        held = claimed(flagging)
        flag_responses(held.unit, flagging, [held.unit.targets.get().pk], "garbled")
        nothing = [target._replace(answers={}) for target in judged(flagging, held)]
        submit_votes(held.unit, flagging, nothing, None)

    assert claim_next_unit(skipping) is None
    assert (flagging.n_gold, flagging.gold_score) == (2, 0.0)
    assert claim_next_unit(flagging) is None


def test_who_skips_what_they_need_to_qualify_is_asked_again(study, rosa, client_for):
    rater = raters_of(study)[0]
    skipped = claimed(rater)
    skip_unit(skipped.unit, rater, "Another reason")
    rate(rater, claimed(rater), GOOD)
    assert claim_next_unit(rater) is None
    client = client_for(rosa)
    page = reverse("annotation:skipped-and-flagged", args=[study.slug])
    ask = reverse("annotation:ask-again", args=[study.slug, skipped.unit_id, rater.pk])
    assert ask in shown(client.get(page)).actions

    client.post(ask)

    assert claimed(rater).unit_id == skipped.unit_id
    assert ask not in shown(client.get(page)).actions


def test_gold_outside_the_plan_is_told_before_a_study_opens(tmp_path):
    study = planned(material(tmp_path, n_examples=6), scheme="SSA", n_sampled=2)
    keys = [f"e{n}-cool" for n in range(1, 7)]
    set_gold(study, dict.fromkeys(keys, GOOD), researcher(), n_qualifying=6)

    with pytest.raises(StudyError, match="but only 2 of them can be shown"):
        open_study(study, researcher())

    assert not Unit.objects.exists()


def test_without_qualifying_gold_is_met_among_the_others_by_more_raters_than_slots(tmp_path):
    study = planned(material(tmp_path, n_examples=40), scheme="SSA", raters=10, seed=5)
    set_gold(study, {f"e{n}-cool": GOOD for n in range(1, 5)}, researcher())
    open_study(study, researcher())
    raters = raters_of(study)
    place: dict[str, list[int]] = {rater.code: [] for rater in raters}

    n_rounds = 0
    while [rater for rater in raters if (held := rate_next(rater)) and note(held, n_rounds, place)]:
        n_rounds += 1

    # 76 ordinary units × 5 raters and 4 gold × 10: 42 rounds. Spread evenly, the 40 meetings have
    # a mean of 20.5 and a standard error of 12.1 / √40 = 1.9.
    assert all(len(rounds) == 4 for rounds in place.values())
    assert abs(sum(map(sum, place.values())) / 40 - 20.5) < 4 * 1.9


def note(held: Assignment, n_rounds: int, place: dict[str, list[int]]) -> bool:
    assert held.rater is not None
    if held.unit.is_gold:
        place[held.rater.code].append(n_rounds)
    return True


def test_a_flagged_gold_item_is_in_no_figure_either_and_the_export_keeps_the_counts(
    study, tmp_path
):
    for rater in raters_of(study):
        while (held := claim_next_unit(rater)) is not None:
            if response_of(held) == "e1-cool":
                flag_responses(held.unit, rater, [held.unit.targets.get().pk], "garbled")
            rate(rater, held, known_or_good(held))
    before = raters_report(study)

    export_folder(study.dataset, study, tmp_path / "out")
    forget(study.dataset)
    again = import_path(tmp_path / "out", "again").study

    assert again is not None
    after = raters_report(again)
    assert before.left_out["flagged_responses"] == 0
    assert before.left_out["unrated_responses"] == 0
    assert (after.rows, after.left_out) == (before.rows, before.left_out)


def test_another_scheme_forgets_the_known_answers(tmp_path):
    study = planned(material(tmp_path), scheme="SSA")
    set_gold(study, {"e1-cool": GOOD}, researcher(), n_qualifying=1)
    plan = StudyPlan("Pilot", study.dataset, built_in_schemes()["AIS"], list(study.setups.all()))

    change_study(study, plan, researcher())

    study.refresh_from_db()
    assert (study.n_gold_units, study.n_qualifying) == (0, 0)
