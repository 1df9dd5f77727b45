"""Collects the answers of one commit: `python -m same_outputs.collecting FOLDER MOMENT`.

It runs in a worktree of that commit, over a copy of the database, but belongs to neither commit: it
imports Django and the models, and reaches everything else by addresses and names of commands.
"""

import logging
import os
import sys
from datetime import datetime
from pathlib import Path

from .collection import Collector
from .fixed_clock import stop_clock


def main(folder: str, moment: str) -> None:
    stop_clock(datetime.fromisoformat(moment))
    import django

    django.setup()
    logging.disable()  # refusals are expected; errors of the server are counted at the end
    from .asked_commands import ask_commands
    from .crawl import crawl_everybody

    target = Path(folder).resolve()
    collector = Collector(target)
    crawl_everybody(collector)
    work = target.parent / "written"
    work.mkdir()
    os.chdir(work)  # commands are given relative paths of files to write, the same for both commits
    ask_commands(collector)


if __name__ == "__main__":
    main(*sys.argv[1:])
