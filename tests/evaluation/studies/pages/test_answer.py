"""The sentences at the top of a study's page: each is true of votes that were planted for it."""

import pytest

from annotation.models import Study
from annotation.schemes import built_in_schemes, load_scheme
from annotation.services.studies import close_study
from annotation.study_progress import arm_progress
from evaluation.reports.base import Choices
from evaluation.reports.report import Record
from evaluation.studies.pages.answer import findings
from evaluation.studies.pages.answer_basis import rests_on
from evaluation.studies.reports.choices import usual_choices
from evaluation.studies.reports.scenarios import scenarios_report
from evaluation.studies.reports.study import Figures, study_figures
from evaluation.studies.reports.uncertainty import uncertainty_report
from tests.annotation.makers import material, opened, rate_all, rate_next, raters_of, researcher
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.studies.hand_made import COOL, WARM, two_arms
from tests.makers import rated, scheme_of

pytestmark = pytest.mark.once


def figures_of(study: Study) -> Figures:
    return study_figures(study, usual_choices(study))


def said(study: Study, question: str = "q") -> list[str]:
    """Return the sentences about one question, with plain spaces."""
    found = {
        f.question: f.sentences
        for f in findings(study, load_scheme(study.scheme), figures_of(study))
    }
    return [sentence.replace("\N{NO-BREAK SPACE}", " ") for sentence in found[question]]


def between(row: Record, name: str) -> str:
    """Return the interval of a report's row in whole percent."""
    return f"({100 * row[f'{name}_low']:.0f}–{100 * row[f'{name}_high']:.0f})"


def mean_of(study: Study, arm: str = "separate", setup: str = "") -> str:
    """Return the interval of the mean of a study's only question in an arm."""
    rows = scenarios_report(study, usual_choices(study)).records
    [row] = [r for r in rows if r["arm"] == arm and setup in r["setup"]]
    return between(row, "mean")


def test_a_shift_is_told_with_its_interval_and_its_p(tmp_path):
    # Alone 8 of 20 have a yes, side by side all: 12 labels change, all to yes. The exact p of
    # 12 of 12 is 2 · ½^12 = .0005.
    votes = {f"r{n}": ("yyy" if n < 8 else "nnn", "yyy") for n in range(20)}
    study = two_arms(tmp_path / "a", votes)
    [shift] = [row for row in uncertainty_report(study).records if row["setup"]]
    low, high = (f"+{100 * shift[f'shift_{end}']:.1f}" for end in ("low", "high"))

    assert said(study) == [
        f"Raters answered yes for 100 % {mean_of(study, 'merged')} of the responses side by side "
        f"and 40 % {mean_of(study)} alone; merging shifts the share of yes by +60.0 points "
        f"({low} to {high}), p <.001.",
        "Side by side, 40 % "
        f"{between(uncertainty_report(study).records[0], 'accuracy')} of 20 responses have the "
        "label that they have alone; the disagreement is 60 %.",
    ]


def test_without_a_shift_it_says_what_could_have_been_shown(tmp_path):
    # Of ten, one label differs: even if it were all, p = 1. With six of ten in one direction and
    # six in the other, p = 1; 2 · ½^12 · (1 + 12 + 66) = .039 at 10 to 2 is the least that counts:
    # a shift of (10 − 2) / 20 = 40 points.
    few = two_arms(
        tmp_path / "few", {f"r{n}": ("yyy", "nnn" if n == 0 else "yyy") for n in range(10)}
    )
    votes = {f"r{n}": ("yyy", "nnn") if n < 6 else ("nnn", "yyy") for n in range(12)}
    votes |= {f"s{n}": ("yyy", "yyy") for n in range(8)}
    many = two_arms(tmp_path / "many", votes)
    same = two_arms(tmp_path / "same", {f"r{n}": ("yyy", "yyn") for n in range(4)})

    assert said(few)[0].endswith(
        "; no difference shown; 1 differing label of 10 is too few for any test."
    )
    assert said(many)[0].endswith(
        "; no difference shown; 12 differing labels of 20 can only show one of 40 points or more."
    )
    assert said(same)[0].endswith("alone; all 4 responses rated in both arms got the same label.")


def test_each_setup_has_its_sentence_and_of_many_the_ends_are_named(tmp_path):
    votes = {"c1": ("yyy", "yyy"), "w1": ("nnn", "yyy")}
    two = two_arms(tmp_path / "two", votes, setups={"c1": COOL, "w1": WARM})
    setups = {f"r{n}": f"setup-{n}" for n in range(5)}
    # setup-0 has a no, the others a yes: of the equal ones the first by name is the highest.
    many = rated(
        tmp_path / "many",
        {key: {"q": ["no" if key == "r0" else "yes"] * 3} for key in setups},
        setups=setups,
    )

    cool, warm, *_ = said(two)
    assert cool.startswith("Raters answered yes for 100 %")
    assert "of the responses of T 0.0 " in cool
    assert warm.startswith("Raters answered yes for 100 %")
    assert "of the responses of T 0.7 " in warm
    assert " and 0 %" in warm
    [ends] = said(many)
    assert ends.startswith("Raters answered yes for 100 % ")
    assert "of the responses of setup-1, and 0 % " in ends
    assert ends.endswith(" of setup-0: the highest and the lowest of 5 setups.")


def test_one_arm_is_told_without_a_comparison(tmp_path):
    votes = {f"r{n}": {"attributable": ["yes", "yes", "no"]} for n in range(3)}
    votes["r3"] = {"attributable": ["no", "no", "yes"]}
    study = rated(tmp_path / "one", votes)

    assert said(study, "attributable") == [
        f"Raters found 75 % {mean_of(study)} of the responses attributable."
    ]


def test_labels_without_a_majority_are_counted_and_in_no_share(tmp_path):
    study = rated(
        tmp_path / "tie",
        {"a": {"q": ["yes", "yes"]}, "b": {"q": ["yes", "no"]}, "c": {"q": ["no", "yes"]}},
    )
    arms = two_arms(tmp_path / "arms", {"a": ("yy", "yn"), "b": ("yy", "yy")})
    none = two_arms(tmp_path / "none", {"a": ("yy", "yn"), "b": ("yn", "yy")})
    alone = two_arms(tmp_path / "alone", {"a": ("yy", "yn"), "b": ("yy", "ny")})

    share, counted = said(study)
    assert share.startswith("Raters answered yes for 100 %")
    assert counted == "Left out, tied with all votes in: 2."
    assert said(arms)[1] == "Left out, tied with all votes in: 1 side by side."
    assert said(none)[0].endswith(
        "no response has a label in both arms, so the two cannot be compared."
    )
    assert said(alone)[0].endswith(" alone; none has a majority side by side yet.")


def test_a_sentence_says_what_its_figure_would_be_where_ties_move_it(tmp_path):
    # 20 yes and 10 tied: 100 %, whose interval of 20 dialogs is about 16 points wide. With ties as
    # half it is (20 + 5) / 30 = 83 %. One tied of 21 moves it by 2 points only.
    yes = {f"y{n}": {"q": ["yes", "yes"]} for n in range(20)}
    ties = {f"t{n}": {"q": ["yes", "no"]} for n in range(10)}
    many = rated(tmp_path / "many", yes | ties)
    one = rated(tmp_path / "one", yes | {"t0": ties["t0"]}, name="one")

    assert said(many)[0].endswith(
        "; the share would be 83 % if the 10 tied responses counted half."
    )
    assert "counted half" not in said(one)[0]


def test_an_interim_answer_has_n_in_its_sentences_and_compares_what_both_arms_decided(tmp_path):
    # Decided in both arms: r0 to r6. r7 is tied side by side, so its no alone has no part.
    votes = {f"r{n}": ("yyy", "nnn" if n == 6 else "yyy") for n in range(7)}
    study = two_arms(tmp_path / "two", votes | {"r7": ("nnn", "yn")})
    alone = rated(tmp_path / "one", {f"r{n}": {"attributable": ["yes"]} for n in range(20)})
    study.state = alone.state = Study.State.OPEN

    both, tied, same = said(study)
    assert both == (
        "Of the 7 responses that are decided in both arms, raters said yes for 6 of 7 side by side "
        "and 7 of 7 alone; no difference shown; 1 differing label of 7 is too few for any test."
    )
    assert tied == "Left out, tied with all votes in: 1 side by side."
    assert "86 % (6 of 7; " in same
    assert " of the responses decided in both arms have the label that they have alone" in same
    [share] = said(alone, "attributable")
    assert share.startswith("Raters found 100 % (20 of 20; ")


@pytest.mark.parametrize(
    ("n", "state", "has_lead"), [(19, "open", False), (20, "open", True), (19, "closed", True)]
)
def test_an_interim_answer_emphasises_nothing_below_20_decided_responses(
    tmp_path, n, state, has_lead
):
    votes = {f"r{m}": {"q": ["yes"]} for m in range(n)} | {"tied": {"q": ["yes", "no"]}}
    study = rated(tmp_path / "s", votes)
    study.state = state

    [found] = findings(study, load_scheme(study.scheme), figures_of(study))

    assert found.has_lead == has_lead


def test_too_few_raters_give_no_share(tmp_path):
    study = opened(material(tmp_path / "m", setups=("cool",)), scheme="SSA", raters=5)

    assert said(study, "sensible") == ["No rater has judged a response yet."]
    for rater in raters_of(study)[:2]:
        rate_next(rater)
    assert said(study, "sensible")[0] == (
        "No response has a majority of its 5 raters yet, so there is no number to report."
    )


def test_points_of_a_scale_are_told_as_the_mean_of_medians(tmp_path):
    # Medians alone: 4 and 3, mean 3.5; side by side: 4 and 4, mean 4. Three times over, because
    # two dialogs have no interval; side by side nothing varies, so that nothing is said.
    given = {"a": ("445", "444"), "b": ("233", "445")}
    votes = {f"{key}{n}": given[key] for key in given for n in range(3)}
    study = two_arms(tmp_path / "stars", votes, scale={"ordinal": [1, 5]})
    alone, _ = scenarios_report(study).records
    ends = f"({alone['mean_low']:.2f}–{alone['mean_high']:.2f})"

    first, *_ = said(study)
    assert first.startswith(
        "The mean of the raters’ medians is 4.00 on the scale from 1 to 5 side by side "
        f"and 3.50 {ends} on the scale from 1 to 5 alone; "
    )


def test_names_have_their_most_frequent_majority(tmp_path):
    votes = {"a": {"q": ["red", "red"]}, "b": {"q": ["red", "red"]}, "c": {"q": ["blue", "blue"]}}
    study = rated(tmp_path / "n", votes, scheme=scheme_of({"q": {"nominal": ["red", "blue"]}}))

    assert said(study) == ["The most frequent majority alone is “red”: 2 of 3 majorities."]


def test_the_metric_that_agrees_most_is_named_beside_what_it_must_beat(tmp_path):
    # The majorities are yes, yes, no. 'good' has all three right, 'bad' says no to everything.
    votes = {"a": {"q": ["yes"] * 3}, "b": {"q": ["yes"] * 3}, "c": {"q": ["no"] * 3}}
    study = rated(tmp_path / "m", votes)
    make_scores(make_run(study.dataset, signature="good"), {"a": 0.9, "b": 0.8, "c": 0.1})
    make_scores(make_run(study.dataset, signature="bad"), {"a": 0.1, "b": 0.1, "c": 0.1})

    sentence = said(study)[-1]

    assert "(good) agrees with the human majority on 100 % (" in sentence
    assert sentence.endswith(
        " of 3 responses, the highest of 2 metric runs. Baseline (always the most frequent "
        "label): 67 %; ceiling (half of 3 votes against the other half): 100 %."
    )


def test_a_pinned_metric_is_told_before_the_one_that_agrees_most(tmp_path):
    # As above: 'bad' has one of three right.
    votes = {"a": {"attributable": ["yes"] * 3}, "b": {"attributable": ["yes"] * 3}}
    study = rated(tmp_path / "p", votes | {"c": {"attributable": ["no"] * 3}})
    make_scores(make_run(study.dataset, signature="good"), {"a": 0.9, "b": 0.8, "c": 0.1})
    make_scores(make_run(study.dataset, signature="bad"), {"a": 0.1, "b": 0.1, "c": 0.1})
    study.dataset.main_attribution_metric = "auto_ais: bad"

    sentence = said(study, "attributable")[-1]
    assert "(bad) agrees with the human majority on 33 % (" in sentence
    assert ", as the main metric of the dataset; the highest of 2 metric runs is " in sentence
    assert "(good), 100 %. Baseline (" in sentence

    study.dataset.main_attribution_metric = "auto_ais: gone"
    gone, sentence = said(study, "attributable")[-2:]
    assert gone == "The main metric of the dataset has no number here: auto_ais: gone."
    assert "(good) agrees with the human majority on 100 % (" in sentence


def test_what_it_rests_on_says_when_raters_stopped_early(tmp_path):
    study = opened(
        material(tmp_path / "m", setups=("cool",)),
        scheme="SSA",
        stops_when_decided=True,
        full_share=0.5,
    )
    rate_next(raters_of(study)[0])
    done = {
        "n": sum(arm.n_done for arm in arm_progress(study)),
        "of": sum(arm.n_wanted for arm in arm_progress(study)),
    }
    assert done["n"] == 1

    so_far = rests_on(study, figures_of(study), done)
    close_study(study, researcher())
    closed = rests_on(Study.objects.get(), figures_of(study), done)

    # Of five raters, two responses and two dialogs, one each has these votes.
    assert so_far[0] == "2 votes by 1 rater on 1 response from 1 dialog."
    assert f"The study has so far 1 of {done['of']} judgements done." in so_far
    assert f"The study was closed with 1 of {done['of']} judgements done." in closed
    assert so_far[-1].replace("\N{NO-BREAK SPACE}", " ") == (
        "Raters were no longer asked about a response once every majority was settled, except on "
        "50 % of the examples."
    )


def test_a_finished_study_says_nothing_about_what_is_left(tmp_path):
    study = opened(material(tmp_path / "m", setups=("cool",)), scheme="SSA")
    rate_all(study)

    assert not [s for s in rests_on(study, figures_of(study), {"n": 10, "of": 10}) if "done" in s]
    assert said(study, "sensible")[0].startswith("Raters found 100 % ")


@pytest.mark.parametrize(
    ("scheme", "main"),
    [
        ("AIS", ["attributable"]),
        ("AIS_2", ["attributable"]),
        ("SSA", ["sensible", "specific"]),
        ("ALIGNMENT", ["supports"]),
    ],
)
def test_a_scheme_says_which_questions_come_first(scheme, main):
    assert [q.key for q in load_scheme(built_in_schemes()[scheme]).main_questions] == main


def test_a_choice_of_setup_changes_the_sentences(tmp_path):
    votes = {"c1": ("yyy", "yyy"), "w1": ("nnn", "nnn")}
    study = two_arms(tmp_path / "two", votes, setups={"c1": COOL, "w1": WARM})
    warm = study.setups.get(temperature=0.7).name

    figures = study_figures(study, Choices(setup=warm))

    [finding] = findings(study, load_scheme(study.scheme), figures)
    assert finding.sentences[0].startswith("Raters answered yes for 0\N{NO-BREAK SPACE}% ")
