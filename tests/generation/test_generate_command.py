"""`manage.py generate`: plans, asks, is stopped and goes on."""

import io
import signal

import pytest
from django.core.management import CommandError, call_command

from generation.backends.registry import LANGUAGE_MODELS
from generation.grids.grid_file import read_grid
from generation.management.asking_command import NOTHING_ASKED, SAY_YES
from generation.models import Call, Checkpoint, Dataset, Grid, Response
from generation.services.grids import request_grid
from generation.services.planning import PLANNINGS
from tests.generation.question_makers import LOGGING, dataset_of
from tests.makers import example_row, import_rows, row_counts

pytestmark = pytest.mark.once

GRID = """
name = "pilot grid"
prompts = ["no-evidence", "golden"]
temperatures = [0.0]
max_tokens = [10]
[[models]]
name = "noting"
price = {input = 10000, output = 20000}
"""


@pytest.fixture
def grid(tmp_path, noting):
    """A grid file, and three examples to ask about."""
    dataset_of(tmp_path / "mills", 3)
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


def generate(grid, **options):
    call_command("generate", "pilot", grid=grid, **options)


def refused(grid, **options):
    with pytest.raises(CommandError) as error:
        generate(grid, **options)
    return str(error.value)


def test_a_dry_run_says_what_it_would_ask_and_writes_nothing(grid, capsys, noting):
    before = row_counts()

    generate(grid, dry_run=True)

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "3 examples, 2 setups of noting"
    # Prompts of 14 and of 20 tokens; (102 · 10,000 + 60 · 20,000) / 1,000,000
    assert lines[3].split() == ["noting", "·", "golden", "3", "0", "0", "60", "30", "1.20", "USD"]
    assert lines[4].split() == ["total", "6", "0", "0", "102", "60", "2.22", "USD"]
    assert row_counts() == before
    assert noting.asked == []


def test_a_plan_says_how_many_calls_show_more_than_their_type_says(grid, tmp_path, capsys):
    evidence = [{"id": f"g{n}", "text": f"Fact {n}.", "golden": True} for n in range(3)]
    import_rows(tmp_path / "more", examples=[example_row("e4", evidence=evidence)])
    grid.write_text(GRID.replace('"golden"', '"retrieved-2"'))

    generate(grid, dry_run=True)

    said = "1 of the calls show more passages than their type says, because that many are golden."
    assert capsys.readouterr().out.splitlines()[-1] == said


def test_what_came_out_is_said_in_a_line_and_asking_again_asks_nothing(grid, capsys, noting):
    generate(grid)
    said = capsys.readouterr().out.splitlines()[-1]
    generate(grid)

    # 600 · 10,000 / 1,000,000 + 60 · 20,000 / 1,000,000
    assert said == ("pilot grid: 6 of 6 calls answered, 0 failed, 600 tokens in, 60 out, 7.20 USD.")
    assert capsys.readouterr().out.splitlines() == [said]
    assert len(noting.asked) == Response.objects.count() == 6


@pytest.mark.parametrize(
    ("n_presses", "n_answered", "n_asked"),
    [
        pytest.param(1, 2, 6, id="once: what is in flight comes, and is not asked again"),
        pytest.param(2, 1, 7, id="twice: what was in flight is asked again"),
    ],
)
def test_ctrl_c_stops_it_and_the_same_command_goes_on(grid, noting, n_presses, n_answered, n_asked):
    def press(n):
        for _ in range(n_presses if n == 2 else 0):
            signal.raise_signal(signal.SIGINT)
        return ""

    before = signal.getsignal(signal.SIGINT)
    noting.on_call = press
    assert refused(grid) == (
        f"Stopped: {n_answered} of 6 calls are answered. "
        "Run the same command again to go on from there."
    )
    assert Grid.objects.get().state == Grid.State.CANCELLED

    noting.on_call = lambda n: ""
    generate(grid)

    assert Grid.objects.get().state == Grid.State.DONE
    assert Response.objects.count() == 6
    assert len(noting.asked) == n_asked
    assert signal.getsignal(signal.SIGINT) == before


def test_a_plan_that_was_outgrown_is_made_again_before_anything_is_asked(grid, tmp_path, capsys):
    dataset = Dataset.objects.get()
    PLANNINGS.claim_and_do(request_grid(dataset, read_grid(GRID), None).pk)
    dataset_of(tmp_path / "more", 4)  # one example more

    generate(grid)

    said = capsys.readouterr()
    assert "There is now more to ask than the plan of “pilot grid” says" in said.err
    plans = [line for line in said.out.splitlines() if line.endswith("setups of noting")]
    assert [plan.split()[0] for plan in plans] == ["3", "4"]
    assert "8 of 8 calls answered" in said.out


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("answer", [None, "\n", "no\n", "y\n"])
def test_a_model_is_asked_only_after_a_yes(grid, noting, monkeypatch, capsys, answer):
    """Without a terminal, which is None here, the command stops."""
    kind = LANGUAGE_MODELS[LOGGING]._replace(needs_model=True, is_server=True)
    monkeypatch.setitem(LANGUAGE_MODELS, LOGGING, kind)
    Checkpoint.objects.create(name="listed", backend=LOGGING, location="http://127.0.0.1:9/v1")
    grid.write_text(GRID.replace('"noting"', '"listed"'))
    monkeypatch.setattr("sys.stdin", Terminal(answer) if answer else io.StringIO())

    if answer == "y\n":
        generate(grid)
        assert len(noting.asked) == 6
        return
    assert refused(grid) == (NOTHING_ASKED if answer else SAY_YES)
    assert noting.asked == []
    assert Grid.objects.get().state == Grid.State.PLANNED
    assert capsys.readouterr().out.startswith("3 examples, 2 setups of listed")
    generate(grid, yes=True)
    assert len(noting.asked) == 6


def test_what_failed_is_listed_and_asked_again_on_demand(grid, capsys, noting):
    noting.on_call = lambda n: "too long" if n <= 2 else ""
    generate(grid)
    assert "2 failed: too long" in capsys.readouterr().err

    generate(grid)
    assert Call.objects.filter(response=None).count() == 2
    generate(grid, retry_failed=True)
    assert Response.objects.count() == 6


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("temprature = [1]", "temprature: found an unknown key"),
        ('sample = "dev"', "sample: found 'dev'; expected a sample of pilot"),
        ('one_shot = "e9"', "one_shot: found 'e9'; expected an example of pilot"),
    ],
)
def test_a_grid_that_cannot_be_asked_is_refused(grid, line, said):
    grid.write_text(line + GRID)

    for options in ({}, {"dry_run": True}):
        assert refused(grid, **options).startswith(said)
    assert not Grid.objects.exists()


def test_a_file_or_dataset_that_is_not_there_is_said(grid, tmp_path):
    assert "Expected a grid file" in refused(tmp_path / "none.toml")
    with pytest.raises(CommandError, match=r"There is no dataset 'mills'\. There are: pilot"):
        call_command("generate", "mills", grid=grid)


def test_a_name_that_another_grid_has_is_refused(grid):
    generate(grid)
    grid.write_text(GRID.replace("[0.0]", "[0.7]"))

    assert "Another grid is named “pilot grid”" in refused(grid)


def test_without_a_terminal_it_prints_lines_about_what_is_done(grid, monkeypatch):
    monkeypatch.setattr("generation.progress.LINE_SECONDS", 0.0)
    monkeypatch.setattr("generation.progress.READ_SECONDS", 0.0)
    err = io.StringIO()

    generate(grid, stderr=err, stdout=io.StringIO(), yes=True)

    lines = [line for line in err.getvalue().splitlines() if line.startswith("Asking for")]
    assert lines[0].startswith("Asking for pilot grid: 0 calls (0%)")
    assert any(" 6 calls (100%)" in line for line in lines)
