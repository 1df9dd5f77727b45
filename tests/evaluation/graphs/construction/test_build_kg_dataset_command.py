"""The command build_kg_dataset: run at once, or killed in every round and continued."""

import io
import json
import os
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from evaluation.graphs.construction.services import constructions as service
from evaluation.graphs.construction.services.entries_check import MOST_ROWS
from evaluation.graphs.management.commands import build_kg_dataset
from evaluation.models import Job
from generation.models import Construction, Dataset
from generation.services.constructions import Review, review_entry
from tests.constructed_entries import written_file
from tests.evaluation.commands import failure
from tests.evaluation.graphs.construction.constructions import (
    contents,
    entry,
    listed,
    writer_server,
)
from tests.evaluation.graphs.pulls import HASTY
from tests.forked_programs import forked_programs
from tests.language_model_server import Reply, Request, refuses
from tests.scripted_writer import ROUNDS, round_of, writes

pytestmark = pytest.mark.once

PUBLISHED = ("--publish", "Painters", "--style", "both")


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(service, "PATIENCE", HASTY)


@pytest.fixture
def writer():
    with writer_server() as server:
        yield server


def arguments(file: Path, url: str, *more: object) -> list[str]:
    named = [file, "--name", "Families", "--model", "writer", "--endpoint", url, "--allow-private"]
    return ["build_kg_dataset", "--yes", *map(str, named), *map(str, more)]


def build(file: Path, url: str, *more: object) -> list[str]:
    out = io.StringIO()
    call_command(*arguments(file, url, *more), stdout=out, stderr=io.StringIO())
    return out.getvalue().splitlines()


def test_it_says_what_became_of_entries_and_makes_both_datasets(family_graph, writer, tmp_path):
    listed(writer)
    file = written_file(tmp_path)
    said = build(file, family_graph.url, *PUBLISHED, "--export", tmp_path / "files")

    assert said[0] == (
        "entries.csv, line 7: Susanna Hall, mother, Anne Hathaway: another relation: found "
        "Q232478 P40 Q1000006; expected P25 from name 1 to name 2"
    )
    assert said[1].startswith("entries.csv, line 10: Shakespeare, spouse, Anne Hathaway: incompl")
    assert any("line 19: Artemisia Gentileschi, mother, " in line for line in said)
    assert said[11:] == [
        "Entries: 20",
        "Complete names: 17 (3 fewer)",
        "Relation known: 16 (1 fewer)",
        "Both names found: 15 (1 fewer)",
        "Connected by an edge: 13 (2 fewer)",
        "Connected by the named relation: 11 (2 fewer)",
        "Only one such pair: 10 (1 fewer)",
        "Built: 9 (1 fewer)",
        said[19],
        "Painters, complex: 9 questions in the complex style.",
        "Painters, simple: 9 questions in the simple style.",
        f"Exported to {tmp_path / 'files'}.",
    ]
    # By hand: 7 entries of 7 calls, one of 5, one of 4; 7 completions cannot be read.
    assert said[19].startswith("65 calls (7 could not be read), ")
    exported = tmp_path / "files" / "simple" / "kg_questions.jsonl"
    first = json.loads(exported.read_text().splitlines()[0])
    assert (first["id"], first["question"]) == ("families-1", "What of entry 1?")
    assert first["entities"] == ["Q367360", "Q212657"]
    assert first["minimum"][0] == ["Q367360", "child", "Artemisia Gentileschi", 1]

    n = len(writer.requests)
    build(file, family_graph.url, *PUBLISHED)  # all is there; entry 18 has one more attempt
    assert len(writer.requests) == n + 1
    assert Dataset.objects.count() == 2
    review_entry(entry(1), Review("drop", "odd"), None)
    with pytest.raises(CommandError, match="before its questions were reviewed as they are now"):
        build(file, family_graph.url, *PUBLISHED)


def test_the_command_reads_files_that_are_too_large_for_the_page(writer, tmp_path):
    listed(writer)
    file = tmp_path / "many.csv"
    row = "Anne married Will.,Anne Hathaway,William Shakespeare,spouse\n"
    file.write_text("paragraph,name 1,name 2,relation\n" + row * (MOST_ROWS + 1))

    [said] = build(file, "http://127.0.0.1:1/", "--dry-run")

    assert said.startswith("2,001 entries: 2,001 would be looked up")


def test_a_dry_run_asks_and_writes_nothing(writer, tmp_path):
    said = build(written_file(tmp_path), "http://127.0.0.1:1/", "--dry-run")

    assert len(said) == 5
    assert said[-1] == (
        "20 entries: 16 would be looked up, 3 have an incomplete name, 1 an unknown relation. "
        "Nothing was asked or written."
    )
    assert not Construction.objects.exists()


def test_what_cannot_be_used_is_said_in_a_line(writer, tmp_path):
    listed(writer)
    file = written_file(tmp_path)

    def refused(*more: object, of: Path = file) -> str:
        return failure(*arguments(of, "http://127.0.0.1:1/", *more))

    assert "argument --rounds: found 7; expected 1 to 6" in refused("--rounds", 7)
    assert "--model: " in refused("--model", "nobody")
    assert "No such file" in refused(of=tmp_path / "none.csv")
    assert "Name the dataset to make with --publish" in refused("--export", tmp_path / "new")
    assert "expected a new folder" in refused("--export", tmp_path, "--publish", "Painters")
    (tmp_path / "relations.json").write_text("{}")
    assert "relations.json" in refused("--relations", tmp_path / "relations.json")
    bad = tmp_path / "bad.csv"
    bad.write_text("paragraph,name_1,relation,name_2\n,Ada Low,spouse,Bo Low\n")
    assert "bad.csv, line 2, paragraph: found" in refused(of=bad)
    assert not Construction.objects.exists()


def test_after_trouble_the_same_command_goes_on(family_graph, writer, tmp_path):
    listed(writer)
    file = written_file(tmp_path)
    writer.otherwise = refuses(401, "who are you?")
    with pytest.raises(CommandError, match="401") as stopped:
        build(file, family_graph.url, "--rounds", 1)
    assert "\n16 of at most " in str(stopped.value)

    writer.otherwise = writes
    assert "Built: 9 (1 fewer)" in build(file, family_graph.url, "--rounds", 1)


# --- killed -----------------------------------------------------------------------------------


class Killing:
    """A writer that kills the process that asks it, once in the middle of each round."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.killed: list[int] = []
        self.pid = 0
        self._asked: Counter[int] = Counter()

    def __call__(self, request: Request) -> Reply:
        number, _ = round_of(request)
        with self.lock:
            self._asked[number] += 1
            # The first four go together: these are stored.
            if number not in self.killed and self._asked[number] == 6:
                self.killed.append(number)
                os.kill(self.pid, signal.SIGKILL)
        return writes(request)


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.once(transaction=True)
def test_killed_in_every_round_and_gone_on_with_it_makes_the_same(family_graph, writer, tmp_path):
    listed(writer)
    file = written_file(tmp_path)
    build(file, family_graph.url, *PUBLISHED, "--export", tmp_path / "undisturbed")
    whole, n_whole = contents(), len(writer.requests)
    Dataset.objects.all().delete()
    Construction.objects.all().delete()
    writer.requests.clear()

    kills = Killing()
    writer.otherwise = kills
    command = arguments(file, family_graph.url, *PUBLISHED, "--export", tmp_path / "killed")
    with forked_programs(tmp_path, "openai", build_kg_dataset.__name__) as programs:
        for n_killed in range(1, len(ROUNDS) + 1):
            with kills.lock:
                kills.pid = programs.start("manage", [*command, "--skip-checks"])
            assert programs.ended() == -signal.SIGKILL, programs.said()
            assert kills.killed == list(ROUNDS[:n_killed])
            assert not Dataset.objects.exists()
            Job.objects.update(lease_until=timezone.now())  # what minutes of silence do
        programs.start("manage", [*command, "--skip-checks"])
        assert programs.ended() == 0, programs.said()

    assert contents() == whole
    assert files(tmp_path / "killed") == files(tmp_path / "undisturbed")
    # What was in flight when a process was killed is asked again: at most four calls each time.
    assert n_whole < len(writer.requests) <= n_whole + 4 * len(ROUNDS)
