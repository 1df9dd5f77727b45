"""The command `choose_threshold` under its former name."""

from typing import Any

from evaluation.studies.management.commands import choose_threshold


class Command(choose_threshold.Command):
    def handle(self, **options: Any) -> None:
        self.stderr.write("The command calibrate is called choose_threshold now.")
        super().handle(**options)
