"""Start the workers and watch them. Ctrl-C ends all of them.

They do the long work of the site: imports, grids, runs and other jobs. Their processes are a beat,
which starts work that is due; two quick workers for imports, figures, samples and plans; heavy
workers for what computes, whose number is in ATTEST_WORKER_PROCESSES; and a worker that waits for
servers. A process that ends is started again. If no worker answers for a minute, all are started
again. Several machines may run this command: each piece of work is done only once.
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
