"""The commands of docs/generation.md, word by word: from two files to the figures."""

import io
import re
import shlex
from pathlib import Path

import pytest
from django.core.management import call_command

from generation.models import Grid, Response
from tests.evaluation.commands import failure

pytestmark = pytest.mark.once

DOC = Path(__file__).parents[3] / "docs" / "generation.md"
MAGIC = {".svg": b"<svg", ".pdf": b"%PDF-", ".png": b"\x89PNG\r\n\x1a\n"}


def test_the_commands_of_the_doc_lead_from_dialogs_to_six_figures(tmp_path, monkeypatch, settings):
    part = DOC.read_text("utf-8").partition("## A whole grid by commands")[2]
    blocks = dict(re.findall(r"```(json|toml|sh)\n(.*?)```", part, re.DOTALL))
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.chdir(tmp_path)
    Path("pilot").mkdir()
    Path("pilot/examples.jsonl").write_text(blocks["json"], "utf-8")
    Path("grid.toml").write_text(blocks["toml"], "utf-8")

    for line in blocks["sh"].splitlines():
        program, *arguments = shlex.split(line)
        assert program == "manage.py"
        call_command(*arguments, stdout=io.StringIO(), stderr=io.StringIO())

    assert {grid.state for grid in Grid.objects.all()} == {Grid.State.DONE}
    figures = sorted(Path().glob("figure-*"))
    assert [file.stem for file in figures] == [f"figure-{n}" for n in range(1, 7)]
    assert all(file.read_bytes().startswith(MAGIC[file.suffix]) for file in figures)
    # Its one model is the small model too, so figure 7 would be figure 6 again.
    said = failure("figure", "tradeoff", "pilot", "figure-7.svg", "--figure", "7")
    assert said.startswith("There is nothing to draw for figure 7, Re-ranked small: ")
    assert said.endswith("Nothing was written.")
    assert Response.objects.filter(chosen_from__isnull=False).exists()
