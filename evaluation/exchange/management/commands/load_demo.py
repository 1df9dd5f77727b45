"""Load the demo: accounts, two datasets, two studies with simulated raters, and an open study.

The dataset 'Demo' has dialogs. The open study is about it, and you can rate in it.

A second dataset, 'Demo graph', is a made-up knowledge graph with questions and cited answers. The
model 'extractive' answers its questions too, in three seeded runs, with 0 to 3 triples of the
minimum knowledge sets removed. Citations and [NA] are scored by word overlap. If you give the
command again, it adds what is missing and changes nothing else. The passwords of the demo are
public, so the command needs DJANGO_DEBUG=1.
"""

import csv
import io
import json
import shutil
from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from accounts.access import Role
from accounts.backends import DEMO_PASSWORDS
from accounts.models import AuditEntry, User
from accounts.services import create_user, record
from annotation.guidelines import default_guideline
from annotation.models import Arm, Study
from annotation.schemes import built_in_schemes, load_scheme
from annotation.services.studies import create_study, open_study
from annotation.study_plan import StudyPlan
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import import_dataset
from evaluation.exchange.simulation import (
    JudgedResponse,
    SimulatedRater,
    SimulatedVote,
    simulated_raters,
    simulated_votes,
)
from evaluation.graphs.experiments.services import ExperimentPlan, grid_of
from evaluation.runs.choices import plan_of
from evaluation.runs.command import requested_here, score_here
from generation.grids.grid_file import GridModel
from generation.importers import open_material
from generation.importers.errors import DatasetError
from generation.management.grid_commands import ask_grid
from generation.model_specs import ModelSpec
from generation.models import Dataset

DEMO_FILES = Path(__file__).resolve().parents[2] / "demo"
DATASET = "Demo"
GRAPH_DATASET = "Demo graph"
GRAPH_METRICS = "alignment", "incompetence"  # scored without a model
RATERS_PER_UNIT = 5
EXAMPLE = """example:
  manage.py load_demo
"""
GUIDELINES = (
    "These raters are simulated: a program made their votes from an estimate of what careful "
    "people would answer. The figures show how Attest works and say nothing about people or "
    "models."
)


class DemoAccount(NamedTuple):
    username: str
    password: str
    role: Role


class DemoStudy(NamedTuple):
    name: str
    scheme: str
    has_merged_arm: bool
    is_evidence_needed: bool  # whether only setups are rated whose model was given evidence
    n_raters: int
    seed: int


ACCOUNTS = [DemoAccount(role.value, DEMO_PASSWORDS[role], role) for role in Role]
STUDIES = [
    DemoStudy("Demo: attribution (simulated raters)", "AIS", True, True, 12, 41),
    DemoStudy("Demo: sensibleness (simulated raters)", "SSA", False, False, 12, 42),
]
OPEN_STUDY = "Demo: rate these yourself"
OTHER_RATERS = [f"demo-rater-{number}" for number in range(2, 11)]  # two arms of five, with 'rater'
INTRODUCTION = (
    "Read a short dialog and its evidence, then answer seven yes/no questions: sometimes about "
    "one response, sometimes about two side by side. No rater has rated anything here yet."
)


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE

    def handle(self, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError(
                "The passwords of the demo are public, so it needs DJANGO_DEBUG=1. Set that only "
                "on a computer of your own."
            )
        accounts = [account.username for account in ACCOUNTS if _create_account(account)]
        there = set(Study.objects.values_list("name", flat=True))
        studies = [study for study in STUDIES if study.name not in there]
        names = [study.name for study in studies]
        try:
            for study in studies:
                _import_study(study)
            if OPEN_STUDY not in there:
                _open_study()
                names.append(OPEN_STUDY)
            graphs = [GRAPH_DATASET] if _import_graph(self.stderr) else []
        except DatasetError as error:
            raise CommandError(
                f"{error}\nThe demo is not complete. If you have a dataset {DATASET!r}, rename it."
            ) from error
        if not accounts and not names and not graphs:
            self.stdout.write("The demo is already loaded. Nothing was changed.")
        for what, added in (("account", accounts), ("study", names), ("dataset", graphs)):
            for name in added:
                self.stdout.write(f"{what}: {name}")


def sign_ins() -> list[tuple[str, str]]:
    """Return (username, password) of the demo's accounts whose password is still the demo's.

    Accounts that were deactivated are left out.
    """
    made = set(
        AuditEntry.objects.filter(action="demo.account_created").values_list("subject", flat=True)
    )
    changed = AuditEntry.objects.filter(action="user.password_changed", subject__in=made)
    names = made - set(changed.values_list("subject", flat=True))
    active = set(
        User.objects.filter(username__in=names, is_active=True).values_list("username", flat=True)
    )
    return [(name, password) for name, password, _ in ACCOUNTS if name in active]


def _create_account(account: DemoAccount) -> bool:
    """Create an account unless the username is taken; return whether it was created."""
    if User.objects.filter(username__iexact=account.username).exists():
        return False
    with transaction.atomic():
        create_user(account.username, [account.role], None, account.password)
        record(None, "demo.account_created", account.username)
    return True


def _import_study(study: DemoStudy) -> None:
    """Import the dataset with one study, in the same way as any other data."""
    with TemporaryDirectory(prefix="attest-demo-") as folder:
        write_interchange_folder(study, Path(folder))
        with open_material(Path(folder)) as material:
            import_dataset(material, plan_import(material, DATASET, study.name))


def _import_graph(stderr: Any) -> bool:
    """Import the made-up graph with cited answers unless it exists; return whether it was imported.

    A dataset of that name is taken to be this graph and is left alone, because users may have asked
    questions about it since.
    """
    if Dataset.objects.filter(name=GRAPH_DATASET).exists():
        return False
    with open_material(DEMO_FILES / "graph") as material:
        import_dataset(material, plan_import(material, GRAPH_DATASET, None))
    dataset = Dataset.objects.get(name=GRAPH_DATASET)
    removal = ExperimentPlan("removal", (GridModel("extractive"),))
    ask_grid(dataset, grid_of(dataset, removal), io.StringIO(), stderr)
    for metric in GRAPH_METRICS:
        plan = plan_of(metric, ModelSpec("lexical"))
        score_here(requested_here(dataset, plan, dataset.responses.all()), stderr)
    return True


@transaction.atomic
def _open_study() -> None:
    """Open a study for the demo's rater, with nine more raters, so that its plan can be met."""
    for name in OTHER_RATERS:
        if not User.objects.filter(username__iexact=name).exists():
            create_user(name, [Role.RATER], None)
    names = [*OTHER_RATERS, *(a.username for a in ACCOUNTS if a.role == Role.RATER)]
    dataset = Dataset.objects.get(name=DATASET)
    with_evidence = dataset.setups.filter(responses__shown__isnull=False).distinct()
    plan = StudyPlan(
        name=OPEN_STUDY,
        dataset=dataset,
        scheme=built_in_schemes()["AIS"],
        setups=list(with_evidence),
        arms=[Arm.Kind.SEPARATE, Arm.Kind.MERGED],
        raters_per_unit=RATERS_PER_UNIT,
        seed=43,
        introduction=INTRODUCTION,
    )
    raters = User.objects.filter(username__in=names, groups__name=Role.RATER)
    open_study(create_study(plan, default_guideline("AIS"), raters, None), None)


def write_interchange_folder(study: DemoStudy, folder: Path) -> None:
    """Write the dataset, the study and its simulated votes as interchange files."""
    for name in ("examples.jsonl", "responses.jsonl"):
        shutil.copyfile(DEMO_FILES / name, folder / name)
    scheme = built_in_schemes()[study.scheme]
    random = Random(study.seed)
    raters = simulated_raters(study.n_raters, random)
    votes = simulated_votes(
        load_scheme(scheme),
        list(_responses(study)),
        raters,
        random,
        is_merged_too=study.has_merged_arm,
        raters_per_unit=RATERS_PER_UNIT,
    )
    facts = {
        "scheme": study.scheme,
        "arms": ["separate", "merged"] if study.has_merged_arm else ["separate"],
        "raters_per_unit": RATERS_PER_UNIT,
        "evidence_choice": "shown",
        "response_order": "random",
        "seed": study.seed,
        "guidelines": [{"version": 1, "text": GUIDELINES}],
        "simulated": True,
    }
    _write_json(folder / "scheme.json", scheme)
    _write_json(folder / "study.json", facts)
    _write_csv(folder / "votes.csv", SimulatedVote._fields, votes)
    _write_csv(folder / "raters.csv", ("rater", "simulated"), map(_rater_row, raters))


def _responses(study: DemoStudy) -> Iterable[JudgedResponse]:
    lines = (DEMO_FILES / "responses.jsonl").read_text("utf-8").splitlines()
    for row in map(json.loads, lines):
        if row["evidence_shown"] or not study.is_evidence_needed:
            yield JudgedResponse(
                key=row["id"],
                example=row["example"],
                temperature=row["setup"]["temperature"],
                n_words=len(row["text"].split()),
                truth=row["meta"]["truth"],
            )


def _rater_row(rater: SimulatedRater) -> tuple[str, str]:
    return rater.code, "yes"


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")


def _write_csv(path: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
