"""Start the demo: data, accounts, the site on 127.0.0.1 and workers. Ctrl-C ends all of them.

If you start it again, everything that was entered before is still there. It needs DJANGO_DEBUG=1.
"""

import errno
import fcntl
import io
import logging
import signal
import socket
import urllib.error
import urllib.request
from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from evaluation.exchange.demo_results import is_complete
from evaluation.exchange.demo_small_model import (
    NoSmallModel,
    offer_small_model,
    start_small_model,
)
from evaluation.exchange.management.commands.load_demo import sign_ins
from evaluation.exchange.new_database import create_tables_if_empty
from evaluation.exchange.tasks import complete_demo
from work.processes import STARTS_WITHIN_SECONDS, ProcessTrouble, Program, Supervisor
from work.workers import Workers

EXAMPLE = """examples:
  manage.py demo --port 8001
  manage.py demo --small-model
"""
HOST = "127.0.0.1"
STILL_SCORING = (
    "\nIts workers still ask and score, for a minute or two: see Jobs. Trade-offs and experiments "
    "fill up meanwhile."
)
# The demo is served as in production. It uses threads, because SQLite gains nothing from processes.
SITE = ["gunicorn", "config.wsgi", "--worker-class=gthread", "--threads=8", "--no-control-socket"]
SITE += ["--graceful-timeout=2", "--log-level=warning"]


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument(
            "--port", type=int, default=8000, help="Port of the site. Default: 8000."
        )
        parser.add_argument(
            "--small-model",
            action="store_true",
            help="Also ask the small language model that `make small-models` fetches.",
        )

    def handle(self, *, port: int, small_model: bool, **options: Any) -> None:
        if not settings.IS_ON_OWN_MACHINE:
            raise CommandError(
                "The passwords of the demo are public, so it needs DJANGO_DEBUG=1. Set that only "
                "on a computer of your own."
            )
        url = f"http://{HOST}:{port}/"
        try:
            with _the_only_demo(url):
                _check_port(port)
                create_tables_if_empty()
                call_command("migrate", verbosity=0)
                call_command("load_demo", stdout=io.StringIO())
                if not is_complete():
                    # A queue in a folder has no host name, about which kombu warns the terminal.
                    logging.getLogger("kombu.connection").setLevel(logging.ERROR)
                    # It asks and scores, which would keep imports waiting in the other queue.
                    complete_demo.apply_async(queue=settings.CHUNK_QUEUE)
                self._take_small_model(is_started=small_model)
                self._run(url, port)
        except ProcessTrouble as error:
            raise CommandError(f"{error}\nThe demo was stopped.") from error
        except KeyboardInterrupt:
            pass  # Ctrl-C came before the site was started
        self._say("Stopped.")

    def _take_small_model(self, *, is_started: bool) -> None:
        """Offer the small model if it is there, and start its grid if the user wants that.

        Raises:
            CommandError: the user wants it started, and that cannot be done.
        """
        try:
            grid = offer_small_model()
            if is_started:
                start_small_model(grid)
        except NoSmallModel as error:
            if is_started:
                raise CommandError(f"{error}\nThe demo was not started.") from error
            self._say(str(error))

    def _run(self, url: str, port: int) -> None:
        """Run the site and the worker until the user asks to stop."""
        with Supervisor(settings.BASE_DIR, settings.DATA_DIR / "logs") as supervisor:
            site = [*SITE, f"--bind={HOST}:{port}"]
            supervisor.start(Program("site", site, signal.SIGTERM, {"ATTEST_IS_DEMO": "1"}))
            workers = Workers(supervisor)
            workers.start()
            supervisor.wait(
                lambda: workers.are_ready() and _answers(url),
                STARTS_WITHIN_SECONDS,
            )
            if not supervisor.is_stopping:
                self._say(_greeting(url))
            supervisor.wait(workers.look)

    def _say(self, text: str) -> None:
        # When the terminal is closed nothing can be written. Ending all processes matters more.
        with suppress(OSError):
            self.stdout.write(text)
            self.stdout.flush()


def _greeting(url: str) -> str:
    """Return a text with the site's address and the accounts that can sign in."""
    accounts = [f"  {name:<12}{password}" for name, password in sign_ins()]
    heading = [f"  {'user name':<12}password"] if accounts else []
    return "\n".join(
        [
            f"\nAttest runs at {url}\n",
            *heading,
            *accounts,
            *([] if is_complete() else [STILL_SCORING]),
            f"\nIts data and logs are in {settings.DATA_DIR}. Ctrl-C stops it.",
        ]
    )


@contextmanager
def _the_only_demo(url: str) -> Iterator[None]:
    """Allow one demo per data folder: two workers would share one queue and one beat."""
    with (settings.DATA_DIR / "demo.lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise CommandError(f"The demo is already running at {lock.read()}") from None
        lock.truncate(0)
        lock.write(url)
        lock.flush()
        yield


def _check_port(port: int) -> None:
    """Raise CommandError when nothing can listen on the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            is_taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            trouble = "is taken" if is_taken else f"cannot be used ({error})"
            raise CommandError(
                f"Port {port} {trouble}. Choose another: make demo PORT=8001"
            ) from error


def _answers(url: str) -> bool:
    """Return whether the sign-in page can be fetched, without any proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url.rstrip("/") + reverse("accounts:sign-in"), timeout=5):
            return True
    except urllib.error.HTTPError as error:
        raise ProcessTrouble(
            f"The sign-in page of the site cannot be shown: it answered with status {error.code}."
        ) from error
    except OSError:
        return False
