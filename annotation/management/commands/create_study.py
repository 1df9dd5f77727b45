"""Plan a study. With --open, open it too."""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from annotation.guidelines import default_guideline
from annotation.known_answers import KnownAnswersError, read_known_answers, text_of_file
from annotation.management.raters import raters_called
from annotation.models import Arm, Study
from annotation.planning import rater_needs
from annotation.schemes import USUAL_SCHEME, built_in_schemes, load_scheme, read_scheme
from annotation.services.gold import set_gold
from annotation.services.studies import StudyError, create_study, open_study
from annotation.study_plan import StudyPlan, usual_raters_per_unit
from generation.choices.arguments import add_arguments, given_from
from generation.management.named import named
from generation.models import Dataset, Setup

CALLED = {
    "evidence_choice": "evidence",
    "n_sampled": "sample",
    "stops_when_decided": "stop_when_decided",
}
EXAMPLE = """example:
  manage.py create_study "Pilot, AIS" --dataset pilot --arms separate merged --raters all
  manage.py create_study "Pilot, SSA" --dataset pilot --scheme SSA --setups "large T 0.0" --open
  manage.py create_study "Gold" --dataset pilot --gold known.csv --qualify 3 --gold-threshold 0.7
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("name", help="Name of the new study.")
        parser.add_argument("--dataset", required=True, help="Name or slug of the dataset.")
        parser.add_argument(
            "--setups", nargs="+", help="Names of setups. Default: all setups of the dataset."
        )
        schemes = parser.add_mutually_exclusive_group()
        schemes.add_argument(
            "--scheme",
            default=USUAL_SCHEME,
            choices=built_in_schemes(),
            help=f"A scheme. Default: {USUAL_SCHEME}.",
        )
        schemes.add_argument("--scheme-file", type=Path, help="JSON file of a scheme of your own.")
        parser.add_argument(
            "--arms",
            nargs="+",
            default=[Arm.Kind.SEPARATE.value],
            choices=Arm.Kind.values,
            help="How raters see the responses. With separate_2, other raters judge each response "
            "alone once more. Default: separate.",
        )
        parser.add_argument(
            "--raters",
            nargs="+",
            default=[],
            help="Codes or user names of raters, or 'all'. Default: none; add raters later.",
        )
        add_arguments(parser, StudyPlan, called=CALLED)
        parser.add_argument(
            "--gold",
            type=Path,
            metavar="FILE",
            help="CSV file of known answers (response, question, answer). Default: no gold items.",
        )
        parser.add_argument(
            "--qualify",
            type=int,
            default=0,
            metavar="N",
            help="Number of gold items that each rater gets first. Default: 0.",
        )
        parser.add_argument(
            "--gold-threshold",
            type=float,
            metavar="SHARE",
            help="Share of right answers, from 0 to 1. A rater with a lower share gets no further "
            "units and is excluded. Default: no rater is excluded.",
        )
        parser.add_argument("--open", action="store_true", help="Open the study at once.")

    def handle(self, *, name: str, open: bool, **options: Any) -> None:
        scheme = _scheme(options["scheme"], options["scheme_file"])
        plan = _plan(name, scheme, options)
        raters = raters_called(options["raters"])
        key = "" if options["scheme_file"] else options["scheme"]
        try:
            with transaction.atomic():
                study = create_study(plan, default_guideline(key), raters, None)
                _set_gold(study, options["gold"], options["qualify"], options["gold_threshold"])
                if open:
                    open_study(study, None)
        except (StudyError, KnownAnswersError) as error:
            raise CommandError(f"{error}\nNothing was made.") from error
        units = f" with {sum(arm.n_units for arm in study.arms.all()):,} units" if open else ""
        done = f"{'Opened' if open else 'Planned'} {study.name}{units}, {len(raters)} raters."
        self.stdout.write(self.style.SUCCESS(done))
        n_missing = sum(need.n_missing for need in rater_needs(study))
        if n_missing:
            self.stderr.write(f"There are too few raters to fill every slot. Add {n_missing} more.")


def _set_gold(study: Study, path: Path | None, n_qualifying: int, threshold: float | None) -> None:
    """Set the gold items of a new study from a file, if there is one."""
    if path is None:
        if n_qualifying or threshold is not None:
            raise CommandError(
                "--qualify and --gold-threshold need known answers. Give their file with --gold.\n"
                "Nothing was made."
            )
        return
    if n_qualifying < 0:
        raise CommandError(
            f"--qualify: found {n_qualifying}; expected 0 or more. Nothing was made."
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}. Nothing was made.") from error
    known = read_known_answers(study, text_of_file(content, str(path)), str(path))
    set_gold(study, known, None, n_qualifying=n_qualifying, threshold=threshold)


def _scheme(key: str, path: Path | None) -> Mapping[str, Any]:
    if path is None:
        return built_in_schemes()[key]
    try:
        data = read_scheme(path.read_text(encoding="utf-8-sig"))
        load_scheme(data)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}. Nothing was made.") from error
    except ValueError as error:  # a SchemeError, or a text that is not UTF-8
        raise CommandError(f"{path}: {error}. Nothing was made.") from error
    scheme: Mapping[str, Any] = data
    return scheme


def _plan(name: str, scheme: Mapping[str, Any], options: Mapping[str, Any]) -> StudyPlan:
    """Return the plan that the options describe. The name is checked as the page does."""
    dataset = named(Dataset.objects.all(), options["dataset"])
    if not name.strip() or len(name) > 100:
        raise CommandError(f"name: found {len(name)} characters; expected 1 to 100.")
    usual = {"raters_per_unit": usual_raters_per_unit(load_scheme(scheme))}
    return StudyPlan(
        name=name.strip(),
        dataset=dataset,
        scheme=scheme,
        setups=_setups(dataset, options["setups"]),
        arms=[kind for kind in Arm.Kind.values if kind in options["arms"]],
        **(usual | given_from(StudyPlan, options, called=CALLED)),
    )


def _setups(dataset: Dataset, names: Sequence[str] | None) -> list[Setup]:
    there = {setup.name: setup for setup in dataset.setups.all()}
    for name in names or ():
        if name not in there:
            raise CommandError(f"{dataset.name} has no setup {name!r}. It has: {_listed(there)}.")
    return [there[name] for name in dict.fromkeys(names or there)]


def _listed(things: Any) -> str:
    """Return the names of the first ten things, separated by commas; 'none' without any."""
    names = [str(thing) for thing in things]
    return ", ".join(names[:10]) + (", …" if len(names) > 10 else "") or "none"
