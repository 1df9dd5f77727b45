"""The command create_study: the same service as the page, in one line."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Assignment, Study
from tests.annotation.planned import make_dataset, make_raters
from tests.annotation.setup.pages import POLITE
from tests.makers import contents

pytestmark = pytest.mark.once


@pytest.fixture
def dataset(db, tmp_path):
    return make_dataset(tmp_path)


@pytest.fixture
def raters(db):
    return make_raters(5)


def create(*arguments):
    """Run the command; return what it printed on each stream."""
    out, err = StringIO(), StringIO()
    call_command("create_study", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_name_and_dataset_are_enough(dataset):
    out, err = create("Mills", "--dataset", "mills")

    study = Study.objects.get()
    assert out == "Planned Mills, 0 raters.\n"
    assert err == "There are too few raters to fill every slot. Add 5 more.\n"
    assert study.setups.count() == 3
    assert study.text_format == "plain"
    assert study.scheme["key"] == "AIS"
    assert "judge the response as a turn in its dialog" in study.guidelines.get().text


def test_every_option_is_kept_and_the_study_opens(dataset, raters):
    out, err = create(
        *("Mills", "--dataset", "mills", "--setups", "model-a", "model-b", "--scheme", "SSA"),
        *("--arms", "merged", "separate", "--raters-per-unit", "3", "--raters", "R-1", "r2", "R-2"),
        *("--sample", "2", "--seed", "7", "--evidence", "golden", "--merged-layout", "in_turn"),
        *("--text-format", "markdown"),
        *("--response-order", "fixed", "--mixing", "raters", "--may-meet-both-arms"),
        *("--lease-minutes", "10", "--stop-when-decided", "--full-share", "0.5", "--open"),
    )

    study = Study.objects.get()
    # 2 examples: 4 responses alone and 2 units of both
    assert out == "Opened Mills with 6 units, 2 raters.\n"
    assert "Add 1 more" in err
    assert Assignment.objects.filter(study=study).count() == 18
    assert study.state == Study.State.OPEN
    assert (study.raters_per_unit, study.n_sampled, study.seed) == (3, 2, 7)
    assert (study.evidence_choice, study.merged_layout) == ("golden", "in_turn")
    assert (study.response_order, study.mixing, study.full_share) == ("fixed", "raters", 0.5)
    assert study.may_meet_both_arms
    assert study.stops_when_decided
    assert study.lease_minutes == 10
    assert study.text_format == "markdown"


def test_all_raters(dataset, raters):
    _, err = create("Mills", "--dataset", "mills", "--raters", "all")

    assert Study.objects.get().raters.count() == 5
    assert err == ""


def test_a_scheme_of_ones_own_comes_from_a_file(dataset, tmp_path):
    path = tmp_path / "polite.json"
    path.write_text(json.dumps(POLITE), encoding="utf-8")

    create("Mills", "--dataset", "mills", "--scheme-file", str(path))

    assert Study.objects.get().scheme == POLITE


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dataset", "gone"], "There is no dataset 'gone'. There are: mills."),
        (
            ["--dataset", "mills", "--setups", "model-x"],
            "mills has no setup 'model-x'. It has: model-a, model-b, model-c.",
        ),
        (
            ["--dataset", "mills", "--raters", "nobody"],
            "No rater has the code or user name 'nobody'.",
        ),
        (["--dataset", "mills", "--raters-per-unit", "4"], "expected an odd number"),
        (["--dataset", "mills", "--raters-per-unit", "0"], "--raters-per-unit: found 0"),
        (["--dataset", "mills", "--sample", "0"], "--sample: found 0; expected 1 or more"),
        (["--dataset", "mills", "--full-share", "2"], "--full-share: found 2; expected 0 to 1"),
        (["--dataset", "mills", "--lease-minutes", "0"], "--lease-minutes: found 0"),
        (["--dataset", "mills", "--seed", "-1"], "--seed: found -1"),
        (
            ["--dataset", "mills", "--scheme", "ALIGNMENT", "--arms", "merged"],
            "Choose only the separate arm",
        ),
        (
            ["--dataset", "mills", "--setups", "model-c", "--open"],
            "There is nothing to rate",
        ),
        (["--dataset", "mills", "--scheme-file", "/nowhere.json"], "No such file or directory"),
        (["--dataset", "mills", "--scheme", "XYZ"], "invalid choice"),
        ([], "--dataset"),
    ],
)
def test_a_mistake_is_one_clear_line_and_nothing_is_made(dataset, arguments, said):
    before = contents()

    with pytest.raises(CommandError) as error:
        create("Mills", *arguments)

    assert said in str(error.value)
    assert contents() == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": "K"}', "[" * 100_000])
def test_a_scheme_file_that_is_none_is_named(dataset, tmp_path, text):
    path = tmp_path / "own.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(CommandError, match=r"own\.json: "):
        create("Mills", "--dataset", "mills", "--scheme-file", str(path))


def test_a_name_that_is_taken_is_said(dataset):
    create("Mills", "--dataset", "mills")

    with pytest.raises(CommandError, match="There is already a study named 'Mills'"):
        create("Mills", "--dataset", "mills")


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit):
        call_command("create_study", "--help")

    assert "manage.py create_study" in capsys.readouterr().out.partition("example:")[2]


# --- gold items -----------------------------------------------------------------------------

GOLD = "response,question,answer\ne1-a,sensible,no\ne2-a,sensible,yes\ne2-a,specific,yes\n"


def test_known_answers_come_from_a_file(dataset, raters, tmp_path):
    (tmp_path / "known.csv").write_text(GOLD)

    create(
        *("Mills", "--dataset", "mills", "--scheme", "SSA", "--raters", "all", "--open"),
        *("--gold", str(tmp_path / "known.csv"), "--qualify", "1", "--gold-threshold", "0.7"),
    )

    study = Study.objects.get()
    assert (study.n_gold_units, study.n_qualifying, study.gold_threshold) == (2, 1, 0.7)
    known = study.gold_answers.values_list("target__response__key", "question", "answer")
    assert set(known) == {
        ("e1-a", "sensible", 0),
        ("e1-a", "specific", 0),  # implied by the closed gate
        ("e2-a", "sensible", 1),
        ("e2-a", "specific", 1),
    }


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (GOLD + "e9,sensible,no\n", [], 'known.csv, line 5, response: found "e9"; expected'),
        (GOLD, ["--qualify", "3"], "Found 3 known answers to qualify; expected at most 2"),
        (GOLD, ["--qualify", "-1"], "--qualify: found -1; expected 0 or more"),
        (GOLD, ["--gold-threshold", "2"], "Found the threshold 2; expected a share from 0 to 1"),
        (None, [], "known.csv: No such file or directory"),
    ],
)
def test_a_mistake_about_gold_makes_no_study(dataset, tmp_path, text, options, said):
    file = tmp_path / "known.csv"
    if text is not None:
        file.write_text(text)
    before = contents()

    with pytest.raises(CommandError, match="Nothing was made") as refused:
        create("Mills", "--dataset", "mills", "--scheme", "SSA", "--gold", str(file), *options)

    assert said in str(refused.value)
    assert contents() == before


def test_what_is_about_gold_needs_known_answers(dataset):
    with pytest.raises(CommandError, match="Give their file with --gold"):
        create("Mills", "--dataset", "mills", "--qualify", "1")


# --- add_raters and setups ------------------------------------------------------------------


def said_by(command, *arguments):
    out = StringIO()
    call_command(command, *arguments, stdout=out)
    return out.getvalue()


def test_raters_are_added_by_code_and_name_and_each_once(dataset, raters):
    create("Mills", "--dataset", "mills", "--raters", "R-1")

    assert said_by("add_raters", "mills", "R-1", "r2", "R-2", "R-3") == (
        "2 raters are added to Mills.\n"
    )
    assert said_by("add_raters", "Mills", "all") == "2 raters are added to Mills.\n"
    assert said_by("add_raters", "Mills", "all") == "0 raters are added to Mills.\n"
    assert Study.objects.get().raters.count() == 5


def test_nobody_is_added_where_a_name_is_wrong_or_the_study_is_closed(dataset, raters):
    create("Mills", "--dataset", "mills")

    with pytest.raises(CommandError, match="No rater has the code or user name 'nix'"):
        said_by("add_raters", "Mills", "R-1", "nix")
    Study.objects.update(state=Study.State.CLOSED)
    with pytest.raises(CommandError, match=r"(?s)closed.*No rater was added\."):
        said_by("add_raters", "Mills", "R-1")

    assert not Study.objects.get().raters.exists()


def test_setups_are_listed_as_a_shell_reads_them(dataset):
    dataset.setups.filter(name="model-a").update(name="a · T 0.7 · it's")

    assert said_by("setups", "mills").splitlines() == [
        # A shell joins 'a · T 0.7 · it', a quoted apostrophe, and 's'.
        """'a · T 0.7 · it'"'"'s'""",
        "model-b",
        "model-c",
    ]
