"""Tied targets: their list, in which they are adjudicated, and the way to it."""

import csv
import io
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import GoldAnswer, Study, Target
from annotation.schemes import load_scheme
from evaluation.models import Adjudication, MetricRun
from evaluation.reports.base import Choices
from evaluation.studies.disagreements.worklist import TIED, worklist
from evaluation.studies.reports.scenarios import scenarios_report
from tests.evaluation.makers_of_scores import disputed, make_run, make_scores
from tests.evaluation.studies.hand_made import FIVE_STARS, two_arms, votes
from tests.makers import rated, scheme_of, statements
from tests.shown import shown

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]


def tied_in(study: Any, run: MetricRun | None = None, **choices: Any) -> list[str]:
    """Return the keys of the tied targets on a study's last question, in order."""
    keys = dict(Target.objects.values_list("pk", "response__key"))
    question = load_scheme(study.scheme).questions[-1]
    found = worklist(study, run, question, Choices(**choices)).tied
    assert {item.kind for item in found} <= {TIED}
    return [keys[item.target] for item in found]


def address(study: Any, name: str = "disagreements", *args: Any, **query: Any) -> str:
    asked = {"kind": TIED} | query
    return reverse(f"evaluation:{name}", args=[study.slug, *args], query=asked)


# --- which they are -------------------------------------------------------------------------


def test_the_closest_votes_come_first_whether_a_metric_has_scored_or_not(tmp_path):
    # The cut is 3. Votes apart: far 2 (0:2), near 0 (1:1), few 1 (0:1). N is 2 or the number of
    # votes, so `waits` is on the cut with a vote to come, and is not listed.
    answers = votes(far="22333", near="24", few="233", waits="3", yes="555", no="111")
    scheme = scheme_of({"q": FIVE_STARS})
    study = rated(tmp_path, answers, scheme=scheme, study={"raters_per_unit": 2})
    assert tied_in(study) == ["near", "few", "far"]

    run = make_run(study.dataset)
    make_scores(run, {"near": 0.9, "yes": 0.1})
    work = worklist(study, run, load_scheme(study.scheme).questions[0], Choices())

    assert tied_in(study, run) == ["near", "few", "far"]
    near, few, far = work.tied
    assert (near.n_yes, near.n_no, near.score) == (1, 1, 0.9)
    assert near.margin == pytest.approx(0.9 - 0.5)
    assert (far.n_yes, far.n_no, few.score, far.score) == (0, 2, None, None)
    assert [item.kind for item in work.items] == ["missed"]
    assert (work.n_rated, work.n_waiting) == (6, 1)


def test_an_ordinal_median_on_the_cut_is_no_majority(tmp_path):
    answers = votes(on="24", also="333", above="45", below="12")
    study = rated(tmp_path, answers, scheme=scheme_of({"q": FIVE_STARS}))

    # The cut is 3. The medians are 3, 3, 4.5 and 1.5.
    assert tied_in(study) == ["also", "on"]


def test_flagged_responses_and_gold_items_are_not_listed(tmp_path):
    flags = [{"response": "flagged", "rater": rater} for rater in ("w1", "w2")]
    study = rated(tmp_path, votes(flagged="yn", gold="yn", fine="yn"), flags=flags)
    gold = Target.objects.get(response__key="gold")
    GoldAnswer.objects.create(study=study, target=gold, question="q", answer=0)

    assert tied_in(study) == ["fine"]


def test_they_are_as_many_as_the_report_counts_in_each_arm_and_setup(tmp_path):
    answers = {"a": ("yn", "yy"), "b": ("yn", "yn"), "c": ("yy", "yn"), "d": ("yn", "yn")}
    study = two_arms(tmp_path / "s", answers, setups={"d": "warm"})

    rows = scenarios_report(study).records

    counted = {(row["arm"], row["setup"]): row["tied"] for row in rows}
    assert counted == {
        ("separate", "m · T 0.0"): 2, ("merged", "m · T 0.0"): 2,
        ("separate", "warm"): 1, ("merged", "warm"): 1,
    }  # fmt: skip
    for (arm, setup), n in counted.items():
        assert len(tied_in(study, truth=arm, setup=setup)) == n, (arm, setup)


def test_the_list_costs_as_many_statements_for_many_targets(tmp_path, researcher):
    def n_statements(n: int) -> int:
        study = rated(tmp_path / f"{n}", votes(**{f"r{i}": "yn" for i in range(n)}), name=f"s{n}")
        return len(statements(lambda: researcher.get(address(study))))

    n_statements(2)  # fills what is cached
    assert n_statements(3) == n_statements(9)


# --- pages ----------------------------------------------------------------------------------


def test_what_waits_is_counted_and_nobody_is_asked_to_decide_it(tmp_path, researcher):
    study = rated(tmp_path, votes(a="yn", b="yynn"), study={"raters_per_unit": 4})

    page = shown(researcher.get(reverse("evaluation:study", args=[study.slug])))
    listed = shown(researcher.get(page.links["Adjudicate 1"]))

    assert "Left out, too few votes for a majority: 1." in page.text
    assert "1 more has fewer votes than planned." in listed.text
    Study.objects.update(state=Study.State.OPEN)
    assert (
        "1 more waits for votes and needs no decision yet."
        in shown(researcher.get(page.links["Adjudicate 1"])).text
    )
    assert [next(iter(case.links)) for case in listed.parts("case")] == ["b"]


def test_they_are_adjudicated_before_any_metric_has_run(tmp_path, researcher):
    study = rated(tmp_path, votes(a="yynn", b="yyyn"))

    page = shown(researcher.get(address(study)))
    [case] = page.parts("case")

    assert "1 of 2 rated cases are tied" in page.text
    [tabs] = [part for part in page.parts("tabs") if "Missed" in part.text]
    assert [*tabs.links] == ["Disagreements 0", "Missed 0", "False alarm 0", "Tied 1"]
    assert case.facts == {"Kind": "tied", "Votes": "2:2", "Score": "—"}
    assert "run" not in page.fields

    target = Target.objects.get(response__key="a")
    saved = researcher.post(
        address(study, "adjudicate", target.pk),
        {"question": "q", "answer": "1", "note": "Clear."},
        follow=True,
    )
    assert shown(saved).messages == ["The decision is saved. No vote was changed."]
    assert Adjudication.objects.get().answer == 1
    assert not shown(researcher.get(address(study, status="open"))).parts("case")
    assert "None with this status" in shown(researcher.get(address(study, status="open"))).headings


def test_beside_a_run_the_score_is_shown_and_the_next_open_one_follows(tmp_path, researcher):
    study, run = disputed(tmp_path)

    page = shown(researcher.get(address(study, run=run.pk)))

    [case] = page.parts("case")
    assert case.facts == {"Kind": "tied", "Votes": "2:2", "Score": "0.90"}
    target = Target.objects.get(response__key="r-even")
    alone = shown(researcher.get(address(study, "disagreement", target.pk)))
    assert alone.part(f"case-{target.pk}").facts["Kind"] == "tied"
    assert f"/{target.pk}/" in page.links["Next open"]


@pytest.mark.parametrize(
    ("answers", "heading"),
    [({"a": "yyn"}, "No ties"), ({}, "No votes yet")],
)
def test_an_empty_list_says_why(tmp_path, researcher, answers, heading):
    study = rated(tmp_path, votes(**answers) or {"a": {"q": []}}, scheme=scheme_of({"q": "yes_no"}),
                  flags=[{"response": "a", "rater": "w9"}] if not answers else [])  # fmt: skip

    assert heading in shown(researcher.get(address(study))).headings


def test_the_answer_leads_to_them_in_one_click(tmp_path, researcher):
    study = two_arms(tmp_path / "s", {"a": ("yn", "yn"), "b": ("yy", "yn"), "c": ("yy", "yy")})

    page = shown(researcher.get(reverse("evaluation:study", args=[study.slug])))

    assert "Left out, tied with all votes in: 1 alone and 2 side by side." in page.text
    for link, keys in (
        ("Adjudicate 1 (separate)", ["a"]),
        ("Adjudicate 2 (merged)", ["a", "b"]),
    ):
        listed = shown(researcher.get(page.links[link]))
        assert [next(iter(case.links)) for case in listed.parts("case")] == keys


def test_counts_of_the_table_lead_to_them(tmp_path, researcher):
    study = rated(tmp_path, votes(a="yn", b="yy"))

    page = shown(researcher.get(reverse("evaluation:study", args=[study.slug])))

    listed = shown(researcher.get(page.links["1 tied: decide"]))
    assert len(listed.parts("case")) == 1


def test_the_file_has_them_with_and_without_a_run(tmp_path, researcher):
    bare = rated(tmp_path / "bare", votes(a="yn"), name="Bare")
    study, run = disputed(tmp_path)

    def rows(of: Any) -> list[dict[str, str]]:
        answer = researcher.get(address(of, "disagreements-csv"))
        text = b"".join(answer.streaming_content).decode()
        return list(csv.DictReader(io.StringIO(text)))

    [without], [beside] = rows(bare), rows(study)
    names = ("response", "kind", "n_yes", "n_no", "score", "run")
    assert [without[name] for name in names] == ["a", "tied", "1", "1", "", ""]
    assert [beside[name] for name in names[:5]] == ["r-even", "tied", "2", "2", "0.9"]
    assert beside["run"] == run.signature


def test_raters_may_not_see_them(tmp_path, rachel, client_for):
    study = rated(tmp_path, votes(a="yn"))

    for name in ("disagreements", "disagreements-csv"):
        assert client_for(rachel).get(address(study, name)).status_code == 403
