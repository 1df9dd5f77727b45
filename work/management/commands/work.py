"""Run and supervise the processes that long work needs, with these settings. Ctrl-C ends them all.

They are a beat, as many worker processes as ATTEST_WORKER_PROCESSES says, and a worker that waits
for servers. A process that dies is started again. All are started again when no worker has answered
for a minute. Several machines may run this command: what two beats send twice is done once.
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
