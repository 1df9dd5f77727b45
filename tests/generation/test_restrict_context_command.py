"""`manage.py restrict_context`: asks golden and non-evidence at each share of the dialog."""

from collections import Counter

import pytest
from django.core.management import CommandError, call_command

from generation.models import Checkpoint, Dataset, Grid, Response, Setup
from tests.generation.mill import MILL, example_rows
from tests.makers import import_rows, response_row, row_counts

pytestmark = pytest.mark.once


@pytest.fixture
def mill(tmp_path, settings, noting):
    """An example with golden evidence, and one without."""
    settings.MEDIA_ROOT = tmp_path / "media"
    import_rows(tmp_path / "mill", "mill", examples=example_rows())
    return Dataset.objects.get()


def restrict(*given):
    call_command("restrict_context", "mill", *given)


def test_each_evidence_is_asked_at_each_share_and_its_real_shares_are_stored(mill, noting, capsys):
    restrict("--model", "noting")

    # The other example has no golden evidence. 2 kinds of evidence × 10 shares, 1 dialog alone.
    assert len(noting.asked) == Response.objects.count() == 21
    assert {decoding.temperature for _, decoding in noting.asked} == {0}
    shares = dict(Response.objects.values_list("setup__prompt", "meta__shares"))
    assert len(shares) == 21
    # Turns of 5, 6 and 6 tokens, golden sentences of 6 and 4; the other passage is one sentence.
    assert shares["restricted-golden-1.0"] == {"dialog": 1, "evidence": 0}
    assert shares["restricted-golden-0.5"] == {"dialog": 6 / 17, "evidence": 0.6}
    assert shares["restricted-golden-0.0"] == {"dialog": 0, "evidence": 1}
    assert shares["restricted-next-best-0.6"] == {"dialog": 12 / 17, "evidence": 0}
    assert shares["restricted-next-best-0.5"] == {"dialog": 6 / 17, "evidence": 1}
    bare = Response.objects.get(setup__prompt="restricted-golden-0.0")
    assert bare.call.prompt == f"Fact: {MILL}\n0 -1 1"
    assert bare.meta["tokens"] == {"dialog": 4, "evidence": 12, "instructions": 0, "total": 16}
    said = capsys.readouterr().out.splitlines()
    assert said[-1].startswith("mill, restricted context, noting: 21 of 21 calls answered")

    restrict("--model", "noting")

    assert len(noting.asked) == 21
    assert Grid.objects.count() == 1


def test_other_choices_are_another_grid_that_shares_what_is_there(mill, noting):
    restrict("--model", "noting", "--evidence", "golden", "--shares", "1", "0.5", "0")
    restrict("--model", "noting", "--evidence", "golden", "random", "--shares", "1", "0.5", "0")

    names = Grid.objects.values_list("name", flat=True)
    assert len(names) == 2
    assert all(name.startswith("mill, restricted context, noting, ") for name in names)
    assert len(noting.asked) == 5
    assert Counter(Setup.objects.values_list("prompt", flat=True)) == {
        "restricted-golden-1.0": 1,
        "restricted-golden-0.5": 1,
        "restricted-golden-0.0": 1,
        "restricted-random-0.5": 1,
        "restricted-random-0.0": 1,
    }


def test_the_largest_model_with_responses_here_is_asked_unless_another_is_named(
    mill, tmp_path, capsys
):
    for name in ("noting-8b", "noting-70b", "noting-500b"):
        Checkpoint.objects.create(name=name, backend="openai", location="http://127.0.0.1:9/v1")
    rows = [
        response_row(name, mill.examples.first().key, setup={"name": name, "model": name})
        for name in ("noting-8b", "noting-70b", "extractive")
    ]
    import_rows(tmp_path / "more", "mill", responses=rows)

    restrict("--shares", "0.5", "--dry-run")

    assert "setups of noting-70b\n" in capsys.readouterr().out

    # A larger one has responses too, but it is of an import and cannot be asked.
    Setup.objects.filter(name="extractive").update(model="PaLM 540B")
    with pytest.raises(CommandError, match="the largest model with responses in mill is not one"):
        restrict("--shares", "0.5", "--dry-run")


def test_passages_may_be_searched_by_the_whole_dialog(mill, noting):
    restrict("--model", "noting", "--shares", "0", "--query", "dialog")

    settings = dict(Setup.objects.values_list("prompt", "settings"))
    assert settings == {
        "restricted-golden-0.0": {},
        "restricted-next-best-0.0": {"query": "dialog"},
    }


def test_a_dry_run_writes_nothing(mill, noting, capsys):
    before = row_counts()

    restrict("--model", "noting", "--shares", "1", "0", "--dry-run")

    said = capsys.readouterr().out
    assert "2 examples, 3 setups of noting" in said
    assert "noting · restricted-golden-1.0" in said
    assert row_counts() == before
    assert not noting.asked


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--model", "palm"], "models.1.name: found 'palm'; expected one of extractive"),
        (["--model", "noting", "--shares", "0.25"], "shares: found 0.25; expected some of 1, 0.9"),
        (["--model", "noting", "--shares", "1", "1"], "found 'restricted-golden-1.0' twice"),
        (["--model", "noting", "--sample", "dev"], "sample: found 'dev'; expected a sample of"),
        (["--model", "noting", "--budget", "0"], "budget: found 0; expected a whole number from"),
        (
            ["--shares", "1"],
            "--model: the largest model with responses in mill is not one that can be asked here. "
            "Choose one of: extractive",
        ),
        (["--model", "noting", "--evidence", "top"], "argument --evidence: invalid choice: 'top'"),
    ],
)
def test_a_mistake_is_said_and_nothing_is_asked(mill, noting, given, said):
    with pytest.raises(CommandError) as error:
        restrict(*given)

    assert said in str(error.value)
    assert not noting.asked
    assert not Grid.objects.exists()


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit):
        call_command("restrict_context", "--help")

    assert (
        "manage.py restrict_context pilot --model extractive --dry-run" in capsys.readouterr().out
    )
