"""Run the workers with these settings: what long work needs, supervised. Ctrl-C ends all of it.

A beat, as many processes as ATTEST_WORKER_PROCESSES says, and one that waits for servers. Whichever
dies is started again, and all of them when none has answered for a minute. More machines may run it
as well: what two beats send twice is done once.
"""

from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from work.processes import ProcessTrouble, Supervisor
from work.workers import Workers

EXAMPLE = """example:
  manage.py work
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE

    def handle(self, **options: Any) -> None:
        with Supervisor(settings.BASE_DIR) as supervisor:
            workers = Workers(supervisor)
            workers.start()
            try:
                supervisor.wait(workers.look)
            except ProcessTrouble as error:
                raise CommandError(f"{error}\nAll workers were stopped.") from error
