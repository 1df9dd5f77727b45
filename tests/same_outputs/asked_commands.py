"""Collects the help of every command, and the output of every command that only reads."""

import zipfile
from argparse import ArgumentParser
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from django.core.management import (
    BaseCommand,
    CommandError,
    call_command,
    get_commands,
    load_command_class,
)

from annotation.models import Study
from generation.models import Dataset

from .collection import Answer, Collector
from .material import FORMATS, REPEATED_AS_JSON, REPEATED_DEMO, REPEATED_PUBLISHED, Command

OURS = frozenset({"accounts", "annotation", "evaluation", "generation", "work"})


def ask_commands(collector: Collector) -> None:
    """Store the commands' output, and the files that they write into the current folder."""
    for name, parser in sorted(_parsers()):
        collector.store(f"command {name} --help", _printed(parser.format_help()))
    studies = list(Study.objects.order_by("name").values_list("name", flat=True))
    datasets = list(Dataset.objects.order_by("name").values_list("name", flat=True))
    of = [("--study", name) for name in studies] + [("--dataset", name) for name in datasets]
    for report in _reports():
        for option, name in of:
            _ask_in_formats(collector, ("report", report, option, name))
    for number, name in enumerate(dict.fromkeys([*studies, *datasets])):
        for suffix in (".zip", ""):
            _export(collector, name, Path(f"export-{number}{suffix}"))
    there = {*studies, *datasets}
    for command in [*REPEATED_DEMO, *REPEATED_PUBLISHED]:
        if there & set(command):
            _ask_in_formats(collector, command)
    for command in REPEATED_AS_JSON:
        if there & set(command):
            for form in FORMATS[:2]:
                _ask(collector, (*command, "--format", form))


def _parsers() -> Iterator[tuple[str, ArgumentParser]]:
    for name, app in get_commands().items():
        if app.partition(".")[0] in OURS:
            command = load_command_class(app, name)
            yield name, command.create_parser("manage.py", name)


def _reports() -> list[str]:
    """Return the names of reports, from the command's own parser."""
    command: BaseCommand = load_command_class(get_commands()["report"], "report")
    parser = command.create_parser("manage.py", "report")
    return next(sorted(a.choices or []) for a in parser._actions if a.dest == "report")


def _ask_in_formats(collector: Collector, command: Command) -> None:
    """Ask for each format; stop at the first that is refused, since the others are refused too."""
    for form in FORMATS:
        if _ask(collector, (*command, "--format", form)):
            return


def _ask(collector: Collector, command: Command) -> int:
    """Store the output of a command, or the reason why it refuses; return its exit status."""
    out = StringIO()
    try:
        call_command(*command, stdout=out, stderr=StringIO())
        answer = _printed(out.getvalue())
    except CommandError as error:
        answer = _printed(f"{out.getvalue()}CommandError: {error}\n", status=1)
    collector.store(f"command {' '.join(command)}", answer)
    return answer.status


def _export(collector: Collector, name: str, path: Path) -> None:
    _ask(collector, ("export", name, str(path)))
    if path.is_dir():
        for file in sorted(each for each in path.rglob("*") if each.is_file()):
            collector.store(f"export {name} {file}", Answer(0, {}, file.read_bytes()))
    elif zipfile.is_zipfile(path):
        collector.store(f"export {name} {path}", Answer(0, {}, path.read_bytes()))


def _printed(text: str, status: int = 0) -> Answer:
    return Answer(status, {}, text.encode())
