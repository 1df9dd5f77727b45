"""Fills the database with a commit's own code: `python -m same_outputs.building FOLDER [SHARED]`.

A command that this commit cannot execute is reported and left out. Both commits then answer from
the same data.
"""

import sys
from io import StringIO
from pathlib import Path

import django
from django.core.management import CommandError, call_command
from django.db import connections

from .material import OPEN, demo_commands, published_commands


def main(folder: str, shared: str = "") -> None:
    django.setup()
    call_command("migrate", verbosity=0)
    commands = demo_commands(Path(folder))
    if shared:
        commands += published_commands(Path(shared), Path(folder))
    for command in commands:
        try:
            call_command(*command, stdout=StringIO(), stderr=StringIO())
        except CommandError as error:
            print(f"Left out: {' '.join(command)}: {error}", flush=True)  # noqa: T201 - for the terminal
    _rate_and_save()
    connections.close_all()  # SQLite's file is complete then


def _rate_and_save() -> None:
    """Let the demo's rater take a unit, and a researcher save a view, by page."""
    from django.test import Client

    from accounts.models import User
    from annotation.models import Study

    rater, researcher = (Client(SERVER_NAME="localhost") for _ in range(2))
    rater.force_login(
        User.objects.get(username="rater"), "django.contrib.auth.backends.ModelBackend"
    )
    researcher.force_login(
        User.objects.get(username="researcher"), "django.contrib.auth.backends.ModelBackend"
    )
    study = Study.objects.get(name=OPEN)
    rater.post(f"/studies/{study.slug}/next/")
    researcher.post("/tradeoffs/demo/views/", {"name": "saved", "address": "by_score=on"})


if __name__ == "__main__":
    main(*sys.argv[1:])
