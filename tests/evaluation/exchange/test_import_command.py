"""The command import_dataset: what it prints, and one clear line on a mistake.

The other commands are in test_report_command.py, test_run_command.py and test_export.py.
"""

import io
import json
import os
import shutil
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.management import call_command

from annotation.models import Study, Vote
from generation.models import Dataset, Turn
from generation.progress import progress_bar
from tests.evaluation.commands import failure
from tests.makers import (
    example_row,
    is_empty,
    response_row,
    vote_row,
    write_files,
)
from tests.services import database_url

pytestmark = pytest.mark.once


@pytest.fixture
def pilot(tmp_path):
    return write_files(
        tmp_path / "ratings",
        examples=[example_row()],
        responses=[response_row("r1"), response_row("r2", setup="model-b")],
        votes=[vote_row("r1", "anna"), vote_row("r1", "ben", "no"), vote_row("r2", "ben")],
    )


@pytest.fixture
def bad_pilot(pilot):
    return write_files(pilot, votes=[vote_row("r1", "anna"), vote_row("r9", "anna")])


# --- import_dataset -------------------------------------------------------------------------


def test_a_file_of_an_older_program_is_read_by_a_choice(tmp_path):
    path = tmp_path / "examples.csv"
    path.write_bytes(b"id,turns\ne1,O\xf9 ?\ne2,O\xf9 ?\n")

    assert "choose Windows-1252" in failure("import_dataset", str(path))
    call_command("import_dataset", str(path), encoding="windows-1252")

    assert set(Turn.objects.values_list("text", flat=True)) == {"Où ?"}


def test_an_import_says_what_is_new_and_where_the_scheme_came_from(pilot, capsys):
    call_command("import_dataset", str(pilot), name="pilot")

    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "examples: 1 new",
        "responses: 2 new",
        "votes: 3 new",
        "scheme: made from the questions and answers found",
        "  attributable: no or yes",
        "Imported into 'pilot', study 'pilot'.",
    ]
    assert err == ""
    assert Vote.objects.count() == 3


def test_a_second_import_says_that_nothing_is_new(pilot, capsys):
    call_command("import_dataset", str(pilot), name="pilot")
    capsys.readouterr()

    call_command("import_dataset", str(pilot), name="pilot")

    assert "votes: 0 new, 3 unchanged" in capsys.readouterr().out


def test_the_dataset_is_called_as_the_file_unless_named(pilot, tmp_path):
    call_command("import_dataset", str(pilot))
    packed = shutil.make_archive(str(tmp_path / "packed.v2"), "zip", pilot)
    call_command("import_dataset", packed, study="votes")

    assert set(Dataset.objects.values_list("name", flat=True)) == {"ratings", "packed"}
    assert set(Study.objects.values_list("name", flat=True)) == {"ratings", "votes"}


def test_a_dry_run_stores_nothing(pilot, capsys):
    call_command("import_dataset", str(pilot), dry_run=True)

    out = capsys.readouterr().out
    assert "votes: 3 new" in out
    assert out.endswith("Dry run: nothing was imported.\n")
    assert is_empty()


def test_bad_rows_are_listed_and_the_import_fails(bad_pilot, capsys):
    message = failure("import_dataset", bad_pilot)

    assert message == (
        "Nothing was imported. Fix the file, or import only the good rows with --skip-bad."
    )
    assert capsys.readouterr().err == (
        'votes.csv, line 3, response: found "r9"; expected the id of a response of this dataset\n'
    )
    assert is_empty()


def test_skipping_bad_rows_imports_the_good_and_lists_the_bad(bad_pilot, capsys):
    call_command("import_dataset", str(bad_pilot), skip_bad=True)

    out, err = capsys.readouterr()
    assert "votes: 1 new, 1 bad" in out
    assert "line 3, response" in err
    assert Vote.objects.count() == 1


def test_of_many_bad_rows_the_first_are_listed(pilot, capsys):
    write_files(pilot, examples=[{"id": f"e{n}"} for n in range(30)])

    failure("import_dataset", pilot)

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[-1].startswith("... and ")


def test_what_was_not_read_and_left_out_is_said(pilot, capsys, shared):
    (pilot / "notes.txt").write_text("later")
    call_command("import_dataset", str(pilot))
    call_command("import_dataset", str(shared / "data/ais/ann_qrecc.csv"))

    out = capsys.readouterr().out
    assert "not read: notes.txt" in out
    assert "left out: 22 Q2 answer with INT = 0" in out
    assert "answers behind a gate that the same rater closed; they are kept as given: 69\n" in out


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (None, "", "found no file or folder; expected the path of"),
        (
            "people.csv",
            "name,age\nAda,36\n",
            "published file (mtrag, ais, begin, treccast, biokalma, qrecc); or a graph",
        ),
        ("people.zip", "not a zip", "cannot be read as a zip"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_message(tmp_path, file, text, message):
    path = tmp_path / (file or "nothing")
    if file:
        path.write_text(text)

    found = failure("import_dataset", path)

    assert path.name in found
    assert message in found
    assert found.endswith("\nNothing was imported.")
    assert is_empty()


def test_a_format_that_does_not_exist_is_refused(pilot):
    message = failure("import_dataset", pilot, "--format", "excel")

    assert "invalid choice: 'excel'" in message


def test_a_file_of_another_format_than_said_is_refused(pilot):
    assert "Nothing was imported." in failure("import_dataset", pilot, "--format", "ais")


def test_a_study_of_another_dataset_is_refused(pilot):
    call_command("import_dataset", str(pilot), name="first")

    message = failure("import_dataset", pilot, "--name", "second", "--study", "first")

    assert "a study 'first' of dataset 'first'" in message
    assert Dataset.objects.count() == 1


@pytest.mark.parametrize("command", ["import_dataset", "report", "export"])
def test_help_has_an_example(command, capsys):
    with pytest.raises(SystemExit) as ending:
        call_command(command, "--help")

    assert ending.value.code == 0
    assert f"example:\n  manage.py {command}" in capsys.readouterr().out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_whatever_the_file_is_called():
    terminal, pipe = Terminal(), io.StringIO()

    for stream in (terminal, pipe):
        with progress_bar("Importing [/x] a.csv", stream) as on_progress:
            on_progress(1234, 0.5)

    assert "Importing [/x] a.csv" in terminal.getvalue()
    assert "1,234 rows" in terminal.getvalue()
    assert pipe.getvalue() == ""


# --- as a process of its own ----------------------------------------------------------------


@pytest.fixture
def manage(tmp_path):
    """Return a function that runs manage.py on the test's database, by the settings of a site."""
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "ATTEST_DATA_DIR": str(tmp_path / "data"),
        "DJANGO_DEBUG": "1",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *map(str, arguments)],
            cwd=settings.BASE_DIR,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


@pytest.mark.once(transaction=True)
def test_as_processes_import_report_and_a_mistake(manage, pilot):
    imported = manage("import_dataset", pilot, "--name", "pilot")
    assert (imported.returncode, imported.stderr) == (0, "")
    assert "votes: 3 new" in imported.stdout

    report = manage("report", "raters", "--study", "pilot", "--format", "json")
    assert (report.returncode, report.stderr) == (0, "")
    assert json.loads(report.stdout)["rows"][0]["n_votes"] == 3

    # Every command reports a mistake like this.
    wrong = manage("report", "raters", "--study", "nothing")
    assert wrong.returncode != 0
    assert wrong.stdout == ""
    assert wrong.stderr == "CommandError: There is no study 'nothing'. There are: pilot.\n"


def test_a_loss_is_listed_and_stored_only_when_it_is_accepted(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("question,answer,rating\nWho?,She.,4\nWho?,She.,5\n")
    lost = "rows that repeat a response with other values in rating, which are lost unless you"

    message = failure("import_dataset", path)
    assert message.startswith("Nothing was imported. Say what the columns are with --mapping")
    assert capsys.readouterr().err.startswith(lost)
    assert is_empty()

    assert failure("doctor", path).startswith("Something would be lost.")
    assert lost in capsys.readouterr().err
    call_command("import_dataset", str(path), accept=True)
    assert lost in capsys.readouterr().err
    assert Dataset.objects.get().responses.count() == 1
