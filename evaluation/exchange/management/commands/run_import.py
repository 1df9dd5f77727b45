"""Check or store one uploaded file within limits. Only workers start this command."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from evaluation.exchange.import_process import run_within_limits


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "import_id", type=int, help="Number of the import. Its token comes on stdin."
        )

    def handle(self, *, import_id: int, **options: Any) -> None:
        if status := run_within_limits(import_id, sys.stdin):
            sys.exit(status)
