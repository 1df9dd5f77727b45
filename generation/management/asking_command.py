"""The base of commands that can ask a model: each shows its plan, and goes on only after a yes."""

import sys
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation.call_plan import CallPlan

NOTHING_ASKED = "Nothing was asked."
SAY_YES = f"This costs money or time. Look at the plan, then give --yes to go on. {NOTHING_ASKED}"


class AskingCommand(BaseCommand):
    """A command that can ask a model for money or hours.

    Its plan goes to the standard error. On a terminal, the user says whether to go on. Elsewhere
    the command stops, unless `--yes` was given.
    """

    is_told_yes = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._confirmed: dict[str, int] = {}  # title of a row of a plan → calls

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Return the parser of the command, with `--yes`."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument(
            "--yes", action="store_true", help="Go on without a question after the plan is shown."
        )
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        self.is_told_yes, self._confirmed = options["yes"], {}
        return super().execute(*args, **options)

    def confirm(self, plan: CallPlan) -> None:
        """Show a plan, and return if the user wants to go on.

        Nothing is shown of a plan without calls, nor again of rows that the user has confirmed.

        Raises:
            CommandError: the user does not want to go on, or cannot be asked.
        """
        new = [row for row in plan.rows if row.n_calls > self._confirmed.get(row.title, 0)]
        if new:
            self.confirm_lines(plan._replace(rows=tuple(new)).lines)
            self._confirmed |= {row.title: row.n_calls for row in new}

    def confirm_lines(self, lines: Iterable[str] = ()) -> None:
        """Show the lines of a plan, and return if the user wants to go on.

        Raises:
            CommandError: the user does not want to go on, or cannot be asked.
        """
        for line in lines:
            self.stderr.write(line, style_func=str)
        if self.is_told_yes:
            return
        if not sys.stdin.isatty():
            raise CommandError(SAY_YES)
        self.stderr.write("Go on? [y/N] ", style_func=str, ending="")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise CommandError(NOTHING_ASKED)
