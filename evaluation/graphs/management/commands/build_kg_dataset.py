"""Make questions about a knowledge graph from entries, with their minimum knowledge sets.

An entry is a paragraph that names two people, and how they are related. Both people are looked up
at a SPARQL endpoint. Then a language model writes a question, round by round. The command needs no
worker. If it was stopped, give it again: it goes on where it was. If the construction is done, the
command gives each entry that failed one more attempt.
"""

import os
import shutil
import tempfile
from argparse import RawDescriptionHelpFormatter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.graphs.construction.pages import counts_of, work_of
from evaluation.graphs.construction.problem_names import PROBLEMS
from evaluation.graphs.construction.services.call_plan import construction_asking
from evaluation.graphs.construction.services.constructions import (
    ConstructionPlan,
    left_out_at_once,
    request_construction,
)
from evaluation.graphs.construction.services.entries_check import EntriesCheck, Upload, checked
from evaluation.jobs.command import do_here
from evaluation.jobs.services import JobError
from evaluation.models import Job
from evaluation.votes.export import export_folder
from generation.call_plan import CallPlan
from generation.choices.arguments import add_arguments, given_from
from generation.importers.entries import LIMITS
from generation.importers.errors import DatasetError
from generation.management.asked_server import models_to_ask
from generation.management.asking_command import AskingCommand
from generation.management.server_options import add_server_arguments
from generation.models import ConstructedDataset, Construction, Dataset
from generation.services.constructions import ConstructionError, publish

UNIT = "entries and calls"
PROBLEMS_SHOWN = 20
Style = ConstructedDataset.Style
BOTH = "both"
CALLED = {"n_rounds": "rounds"}
EXAMPLE = """examples:
  manage.py build_kg_dataset entries.csv --name painters --model gpt --dry-run
  manage.py build_kg_dataset entries.csv --name painters --model gpt
  manage.py build_kg_dataset entries.csv --name painters --model gpt \\
      --publish "Painters" --style both --export painters-files

entries.csv:
  paragraph,name_1,relation,name_2
  "Artemisia was the eldest child of …",Orazio Gentileschi,child,Artemisia Gentileschi
"""


class Command(AskingCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("entries", type=Path, help="CSV, TSV or JSON Lines file of entries.")
        parser.add_argument("--name", required=True, help="Name of the construction.")
        parser.add_argument(
            "--model",
            required=True,
            help="Name of a listed model, or with --server the name that the server knows. It "
            "writes the questions.",
        )
        add_server_arguments(parser)
        parser.add_argument(
            "--relations", type=Path, help="JSON file: the properties that mean each relation."
        )
        add_arguments(parser, ConstructionPlan, called=CALLED)
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="Only check the entries. Ask and store nothing.",
        )
        parser.add_argument(
            "--publish",
            metavar="NAME",
            help="Make a dataset with this name. It has all questions that were not dropped.",
        )
        parser.add_argument(
            "--style",
            choices=[*Style.values, BOTH],
            default=Style.COMPLEX.value,
            help="Style of the dataset's questions. Default: complex. With 'both', each style has "
            "a dataset whose name ends in the style.",
        )
        parser.add_argument(
            "--export",
            type=Path,
            metavar="FOLDER",
            help="New folder. The published dataset is exported to it.",
        )

    def handle(self, **options: Any) -> None:
        folder: Path | None = options["export"]
        if folder and not options["publish"]:
            raise CommandError(
                "--export: there is nothing to export. Name the dataset to make with --publish."
            )
        if folder and (folder.exists() or not folder.absolute().parent.is_dir()):
            raise CommandError(f"--export {folder}: expected a new folder in a folder that exists.")
        check = _read(options["entries"], options["relations"])
        if options["dry_run"]:
            self._say_what_would_be(check)
            return
        with models_to_ask(options, [options["model"]]) as [model]:
            plan = _plan(check, options | {"model": model})
        began: list[Job] = []

        def request() -> Job:
            began.append(request_construction(plan, None))
            return began[-1]

        def asking() -> CallPlan:
            began.clear()  # the request was tried, and undone
            return construction_asking(plan)

        try:
            do_here(self, request, asking, "Constructing", UNIT)
        except JobError as error:
            option = f"--{error.field.replace('_', '-')}: " if error.field else ""
            raise CommandError(f"{option}{error}\nNothing was asked.") from error
        finally:
            construction = Construction.objects.filter(job__in=began).first()
            if construction:
                self._report(construction, plan)
        if construction is None:
            raise CommandError(
                "Another user deleted the construction while the command was working."
            )
        if options["publish"]:
            self._publish(construction, options["publish"], options["style"], folder)

    def _say_what_would_be(self, check: EntriesCheck) -> None:
        for record in check.entries:
            if why := left_out_at_once(record, check.relations):
                where = f"{record.where.file}, line {record.where.line}"
                self.stdout.write(f"{where}: {PROBLEMS[why.problem]}: {why.detail}")
        self.stdout.write(
            f"{len(check.entries):,} entries: {check.n_ready:,} would be looked up, "
            f"{len(check.incomplete):,} have an incomplete name, {check.n_unknown:,} an unknown "
            "relation. Nothing was asked or written."
        )

    def _report(self, construction: Construction, plan: ConstructionPlan) -> None:
        for entry in construction.entries.exclude(detail=""):
            where = plan.entries[entry.number - 1].where
            why = PROBLEMS.get(entry.problem) or entry.get_state_display().lower()
            said = f"{where.file}, line {where.line}: {entry}: {why}: {entry.detail}"
            self.stdout.write(said)
        counts = counts_of([construction])[construction.pk]
        for step in counts.funnel:
            dropped = f" ({step.n_dropped:,} fewer)" if step.n_dropped else ""
            self.stdout.write(f"{step.title}: {step.n_left:,}{dropped}")
        work = work_of(construction)
        self.stdout.write(
            f"{work.n_calls:,} calls ({work.n_unreadable:,} could not be read), "
            f"{work.n_prompt_tokens:,} tokens of prompts, {work.n_completion_tokens:,} of "
            "completions."
        )

    def _publish(
        self, construction: Construction, name: str, style: str, folder: Path | None
    ) -> None:
        names = (
            {each: f"{name}, {each}" for each in Style.values} if style == BOTH else {style: name}
        )
        try:
            made = {each: publish(construction, names[each], each, None) for each in names}
        except ConstructionError as error:
            raise CommandError(f"--publish: {error}") from error
        for each, dataset in made.items():
            n = dataset.examples.count()
            self.stdout.write(f"{dataset.name}: {n:,} questions in the {each} style.")
        if folder:
            _export(made, folder)
            self.stdout.write(self.style.SUCCESS(f"Exported to {folder}."))


def _read(entries: Path, relations: Path | None) -> EntriesCheck:
    """Return the checked contents of the files.

    Raises:
        CommandError: a file, or a row of it, cannot be read.
    """
    try:
        n_bytes = entries.stat().st_size
        if n_bytes > LIMITS.max_bytes:
            raise CommandError(
                f"{entries}: the file is too large; expected at most {LIMITS.max_bytes:,} bytes."
            )
        upload = Upload(entries.name, entries.read_bytes())
        if relations:
            text = relations.read_text(encoding="utf-8-sig")
            upload = upload._replace(relations_file=relations.name, relations_text=text)
        check = checked(upload, is_page=False)
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}\nNothing was asked.") from error
    except UnicodeDecodeError as error:
        where = f"--relations {relations}"
        raise CommandError(
            f"{where}: the text is not UTF-8. Save it as UTF-8.\nNothing was asked."
        ) from error
    except DatasetError as error:
        raise CommandError(f"{error}\nNothing was asked.") from error
    if check.problems:
        said = [str(problem) for problem in check.problems[:PROBLEMS_SHOWN]]
        n_more = len(check.problems) - len(said)
        more = [f"and {n_more:,} more"] if n_more else []
        raise CommandError("\n".join([*said, *more, "Nothing was asked."]))
    return check


def _plan(check: EntriesCheck, options: Mapping[str, Any]) -> ConstructionPlan:
    return check.plan(
        name=options["name"],
        model=options["model"],
        **given_from(ConstructionPlan, options, called=CALLED),
    )


def _export(made: Mapping[str, Dataset], folder: Path) -> None:
    """Write the files of one dataset, or of each dataset in a folder for its style.

    Either all files are written or none.
    """
    # The files are written beside `folder` and then moved, so that it appears whole or not at all.
    unfinished = Path(tempfile.mkdtemp(prefix=".export-", dir=folder.absolute().parent))
    try:
        whole = unfinished / folder.name
        if len(made) > 1:
            whole.mkdir()
        for style, dataset in made.items():
            export_folder(dataset, None, whole / style if len(made) > 1 else whole)
        os.replace(whole, folder)
    finally:
        shutil.rmtree(unfinished)
