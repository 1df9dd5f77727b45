"""Marks on axes of raters: assumed answers make none alone, and a part of the examples is hollow.

One study asks whether responses are attributable and sensible; an answer is that of one rater:

| setup | in the study | e1 | e2 | e3 | e4 |
|---|---|---|---|---|---|
| golden | yes | yes, yes | yes, yes | no, yes | yes, no |
| golden-instructions | yes | yes, yes | no, yes | says nothing | not rated |
| no-evidence | yes, shown nothing | | | | |
| retrieved-2 | no | says nothing | | | |
| no-history-no-evidence | no, shown nothing | | | | |
| reranked | chosen from | golden | golden | retrieved-2 | retrieved-2 |
"""

import numpy as np
import pytest
from django.urls import reverse

from annotation.models import Study, Vote
from annotation.planning import sampled
from evaluation.tradeoffs.axes import named_axes
from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.pages.methods import methods_paragraph
from evaluation.tradeoffs.pools import pool_of
from evaluation.tradeoffs.rated_examples import AxisAnswers, RatedPlan, made_of_assumed
from evaluation.tradeoffs.reports.comparable_setups import comparable_report
from evaluation.tradeoffs.reports.reranking import reranking_report
from evaluation.tradeoffs.reports.takeaways import takeaways_report
from evaluation.tradeoffs.reports.tradeoff import tradeoff_report
from generation.models import RERANKED, Response
from tests.evaluation.makers_of_scores import make_run, make_score
from tests.makers import example_row, import_rows, response_row, scheme_of, vote_row
from tests.shown import shown

PLANNED = ("golden", "golden-instructions", "no-evidence")
OTHERS = ("retrieved-2", "no-history-no-evidence")
SHOWN_NOTHING = ("no-evidence", "no-history-no-evidence")
SILENT = ("golden-instructions-3", "retrieved-2-1")
ATTRIBUTABLE = {"golden": "yyny", "golden-instructions": "yn"}
SENSIBLE = {"golden": "yyyn", "golden-instructions": "yy"}
QUESTIONS = {"attributable": ATTRIBUTABLE, "sensible": SENSIBLE}
PASSAGE = {"id": "p1", "text": "The mill closed.", "golden": True}
PART, UNRATED = "golden-instructions", "retrieved-2"


def keys(prompt):
    return [f"{prompt}-{n}" for n in range(1, 5)]


@pytest.fixture
def study(tmp_path) -> Study:
    outcome = import_rows(
        tmp_path / "mill",
        "mill",
        examples=[example_row(f"e{n}", evidence=[PASSAGE]) for n in range(1, 5)],
        responses=[
            response_row(
                key,
                f"e{key[-1]}",
                setup={"name": prompt, "model": "M 8B", "temperature": 0.0, "prompt": prompt},
                text="" if key in SILENT else f"Words of {key}.",
                evidence_shown=[] if prompt in SHOWN_NOTHING else ["p1"],
            )
            for prompt in (*PLANNED, *OTHERS)
            for key in keys(prompt)
        ],
        votes=[
            vote_row(key, "anna", {"y": "yes", "n": "no"}[answer], question)
            for question, by_setup in QUESTIONS.items()
            for prompt, answers in by_setup.items()
            for key, answer in zip(keys(prompt), answers, strict=False)
        ],
        scheme=scheme_of({"attributable": "yes_no", "sensible": "yes_no"}),
        study={"evidence_choice": "shown"},
    )
    assert outcome.study
    outcome.study.setups.add(*outcome.study.dataset.setups.filter(name__in=PLANNED))
    reranked = outcome.study.dataset.setups.create(
        name=RERANKED,
        model="M 8B",
        temperature=0.0,
        prompt=RERANKED,
        settings={"function": "max-attribution", "pool": ["golden", UNRATED]},
    )
    sources = [*keys("golden")[:2], *keys(UNRATED)[2:]]
    for source in Response.objects.filter(key__in=sources).select_related("example"):
        Response.objects.create(
            dataset=source.dataset,
            example=source.example,
            setup=reranked,
            key=f"chosen {source.key}",
            text=source.text,
            is_evidence_stated=False,
            digest="",
            chosen_from=source,
        )
    return outcome.study


def material(study, sensibleness="sensible"):
    return material_of(study.dataset, named_axes(study.dataset, "attributable", sensibleness))


def marks(material):
    """Return the marks: setup → n, of how many, attribution, sensibleness, whether in part."""
    found = tradeoff_report(material, View()).records
    names = "n", "n_examples", "attribution", "sensibleness", "is_rated_in_part"
    return {row["setup"]: tuple(row[name] for name in names) for row in found if row["n"]}


@pytest.mark.once
def test_assumed_answers_make_no_mark_alone_and_a_part_of_the_examples_is_said(study):
    found = material(study)

    # golden: 3 of 4 and 3 of 4. golden-instructions: of e1, e2 and the silent e3, one is
    # attributable and two are sensible; e4 is missing. reranked: e1 and e2, as no rater has seen
    # retrieved-2. no-evidence: not attributable, but no rater says whether it is sensible.
    assert marks(found) == {
        "golden": (4, 4, 0.75, 0.75, False),
        PART: (3, 4, pytest.approx(1 / 3), pytest.approx(2 / 3), True),
        RERANKED: (2, 4, 1.0, 1.0, True),
    }
    left_out = tradeoff_report(found, View()).left_out
    assert (left_out["setups_without_ratings"], left_out["setups_without_figures"]) == (3, 0)
    said = methods_paragraph(found, View())
    assert "only a part of the examples of 2 setups" in said
    assert "3 setups without answers by raters" in said


@pytest.mark.once
def test_with_a_metric_beside_raters_only_setups_of_the_study_stand_at_0(study):
    run = make_run(study.dataset, metric="sensible", signature="sensible|told")
    for key in Response.objects.filter(chosen_from=None).values_list("key", flat=True):
        make_score(run, key, 0.9)

    found = marks(material(study, f"run-{run.pk}"))

    assert found.keys() == {"golden", PART, "no-evidence", RERANKED}
    assert found["no-evidence"] == (4, 4, 0.0, 1.0, False)


@pytest.mark.once
def test_examples_of_dialogs_that_were_not_drawn_are_neither_missing_nor_assumed(study):
    Study.objects.filter(pk=study.pk).update(n_sampled=2, n_drawn_from=4)
    study.refresh_from_db()
    Vote.objects.exclude(target__response__example__in=sampled(study)).delete()

    found = marks(material(study))

    assert found["golden"][:2] == (2, 2)
    assert not found["golden"][-1]


@pytest.mark.once
def test_rows_over_a_part_of_the_examples_say_so_in_each_report(study):
    found = material(study)

    effects = {row.effect: row for row in takeaways_report(found).rows if not row.of}
    # With instructions − without: one pair, on e1 to e3.
    assert (effects["instructions"].n_pairs, effects["instructions"].n_rated_in_part) == (1, 1)
    pairs = {(row.to_setup, row.from_setup): row for row in comparable_report(found).rows}
    assert pairs[PART, "golden"].is_rated_in_part
    pool = pool_of(study.dataset.setups.filter(name__in=["golden", UNRATED]))
    rows = reranking_report(study.dataset, found.axes, [pool]).rows
    # A choice at random among a rated setup and one that is not is the rated setup.
    assert [(row.kind, row.n, row.is_rated_in_part) for row in rows] == [
        ("single", 4, False),
        ("single", 0, False),
        ("mean", 4, True),
        ("aggregate", 2, True),
    ]


@pytest.mark.once
def test_the_page_and_the_file_draw_a_part_hollow_and_count_setups_without_a_mark(
    study, rosa, client_for
):
    client, slug = client_for(rosa), study.dataset.slug
    answer = client.get(reverse("tradeoffs:tradeoff", args=[slug]))
    page, html = shown(answer), answer.content.decode()

    assert "3 of its 4 examples (75%), as 1 have no rating" in html
    assert html.count('class="dot m1 t0 hollow"') == 2  # for desks and phones; no aggregates
    assert "of 1 setup, as the table says" in page.text
    assert "3 setups have no mark" in page.text
    file = client.get(reverse("tradeoffs:figure", args=[slug, "svg"])).content.decode()
    assert "Rated in part: 1 setup<" in file
    assert ".dot.hollow {" in file


ALL, NONE = [True, True], [False, False]


def answers(is_assumed, *, is_in_plan):
    every = np.array([ALL])
    return AxisAnswers(every, every, np.array([is_assumed]), np.array([is_in_plan]))


@pytest.mark.parametrize(
    ("assumed", "is_in_plan", "other", "is_alone"),
    [
        (ALL, True, None, False),  # a setup of the study, without evidence
        (ALL, False, None, True),  # the same of no study, beside a metric
        (ALL, False, answers(NONE, is_in_plan=True), False),  # rated on the other axis
        (ALL, False, answers(ALL, is_in_plan=True), True),
        ([True, False], True, None, False),  # the second response is rated
    ],
)
def test_what_is_made_of_assumed_answers_alone(assumed, is_in_plan, other, is_alone):
    both = [answers(assumed, is_in_plan=is_in_plan), other]

    assert made_of_assumed(np.zeros((2, 1, 2)), both, 0).tolist() == [is_alone]


def test_a_silent_response_alone_is_no_mark_while_the_others_are_not_rated():
    labels = np.array([[[0.0, np.nan]], [[0.0, np.nan]]])
    of_axis = answers([True, False], is_in_plan=True)

    assert made_of_assumed(labels, [of_axis, of_axis], 0).tolist() == [True]


def test_a_plan_asks_about_drawn_examples_and_not_about_known_answers():
    plan = RatedPlan(frozenset(), frozenset({1, 2}), frozenset({12, 22}))
    responses, sources, examples = np.array([[11, 12, 13, 14], [0, 0, 0, 22], [1, 2, 3, 1]])

    # 12 is gold, 13 is of an example that was not drawn, 14 was chosen from gold.
    assert plan.is_asked(responses, sources, examples).tolist() == [True, False, False, False]
