"""Pull entities from a SPARQL endpoint into the knowledge graph of a dataset.

For each name, the entities that have it as label or alias are pulled, with their aliases and
one-hop triples. If several entities have the name, all of them are pulled. Entities that are
already in the graph are not changed. The command needs no worker. If it was stopped, give it again:
it goes on where it was.
"""

from argparse import RawDescriptionHelpFormatter
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.graphs.services.graph_pull import PullPlan, request_pull
from evaluation.graphs.services.pull_calls import pull_asking
from evaluation.jobs.command import do_here
from evaluation.jobs.services import JobError
from evaluation.models import Job
from generation.choices.arguments import add_arguments, given_from
from generation.management.asking_command import AskingCommand

MOST_BYTES = 10_000_000  # size of a file of names
CALLED = {"with_missing": "missing", "with_mentions": "mentions"}
EXAMPLE = """examples:
  manage.py pull_graph painters "Artemisia Gentileschi" Q367360
  manage.py pull_graph biokalma --missing
  manage.py pull_graph painters --names names.txt --endpoint http://127.0.0.1:7878/query \\
      --allow-private
"""


class Command(AskingCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("dataset", help="Name or slug of a dataset to add to, or a new name.")
        parser.add_argument(
            "name", nargs="*", help="Labels, aliases or qids of entities, as in Q42 or '<E12>'."
        )
        parser.add_argument("--names", type=Path, help="Text file with more names, one a line.")
        add_arguments(parser, PullPlan, called=CALLED)

    def handle(self, **options: Any) -> None:
        plan = PullPlan(
            dataset=options["dataset"],
            names=(*options["name"], *_lines(options["names"])),
            **given_from(PullPlan, options, called=CALLED),
        )
        try:
            request = partial(request_pull, plan, None)
            self._report(do_here(self, request, partial(pull_asking, plan), "Pulling", "names"))
        except JobError as error:
            raise CommandError(f"{error}\nNothing was pulled.") from error

    def _report(self, job: Job) -> None:
        for step in job.steps.all():
            content = step.content
            found = [
                f"{each['label']} ({each['qid']}{', ' * bool(each['type'])}{each['type']})"
                + ("" if each["is_new"] else ", already there")
                for each in content["found"]
            ]
            self.stdout.write(f"{content['name']}: {'; '.join(found) or 'not found'}")
        totals = job.result.get("totals")
        if totals is None:
            self.stdout.write("The graph already has all of them. Nothing was pulled.")
            return
        self.stdout.write(
            f"{totals['n_new']:,} new entities with {totals['n_triples']:,} triples, "
            f"{totals['n_there']:,} already there, {totals['n_not_found']:,} of "
            f"{totals['n_names']:,} names not found."
        )
        left_out = totals["left_out"] | {"more namesakes": totals["n_namesakes_left"]}
        if said := [f"{n:,} {reason}" for reason, n in sorted(left_out.items()) if n]:
            self.stdout.write(f"Left out: {', '.join(said)}.")


def _lines(file: Path | None) -> list[str]:
    """Return the names in a file, which has one name a line."""
    if file is None:
        return []
    try:
        if file.stat().st_size > MOST_BYTES:
            raise CommandError(
                f"--names {file}: the file is too large; expected at most {MOST_BYTES:,} bytes."
            )
        return file.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise CommandError(f"--names {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"--names {file}: the text is not UTF-8. Save it as UTF-8.") from error
