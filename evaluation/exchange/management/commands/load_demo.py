"""Load the demo: accounts, two datasets, three studies of simulated raters, and an open study.

The dataset 'Demo' has dialogs. The open study is about it. Simulated raters have rated half of that
study, and you can rate in it. A second dataset, 'Demo graph', is a made-up knowledge graph with
questions and cited answers.

With --wait the command also does what takes longer, in about a minute. The model 'extractive' is
asked with twelve prompt types, with restricted context and with the recipe's prompts. Responses by
'demo-writer' to the twelve types are imported. Auto-AIS and Auto-SSA score all of them, and the
usual pools and the recipe are re-ranked. 'extractive' answers the questions about the graph too, in
three seeded runs, with knowledge removed or replaced. Citations and [NA] are scored by word
overlap.

If you give the command again, it adds what is missing and changes nothing else. The passwords of
the demo are public, so the command needs DJANGO_DEBUG=1.
"""

from argparse import RawDescriptionHelpFormatter
from typing import Any, NamedTuple

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from accounts.access import Role
from accounts.backends import DEMO_PASSWORDS
from accounts.models import AuditEntry, User
from accounts.services import create_user, record
from annotation.models import Study
from evaluation.exchange.demo_files import DATASET, DEMO_FILES, GRAPH_DATASET
from evaluation.exchange.demo_results import complete, is_complete
from evaluation.exchange.demo_studies import OPEN_STUDY, STUDIES, import_study, open_demo_study
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import import_dataset
from generation.importers import open_material
from generation.importers.errors import DatasetError
from generation.management.asking_command import AskingCommand
from generation.models import Dataset

EXAMPLE = """example:
  manage.py load_demo --wait
"""


class DemoAccount(NamedTuple):
    username: str
    password: str
    role: Role


ACCOUNTS = [DemoAccount(role.value, DEMO_PASSWORDS[role], role) for role in Role]
[RATER] = [account.username for account in ACCOUNTS if account.role == Role.RATER]


class Command(AskingCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument(
            "--wait",
            action="store_true",
            help="Also ask, score and re-rank, which takes longer. `manage.py demo` leaves that to "
            "its workers.",
        )

    def handle(self, *, wait: bool, **options: Any) -> None:
        if not settings.IS_ON_OWN_MACHINE:
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
                import_study(study)
            if OPEN_STUDY not in there:
                open_demo_study(RATER)
                names.append(OPEN_STUDY)
            graphs = [GRAPH_DATASET] if _import_graph() else []
        except DatasetError as error:
            raise CommandError(
                f"{error}\nThe demo is not complete. If you have a dataset {DATASET!r}, rename it."
            ) from error
        is_waited_for = wait and not is_complete()
        if not accounts and not names and not graphs and not is_waited_for:
            self.stdout.write("The demo is already loaded. Nothing was changed.")
        for what, added in (("account", accounts), ("study", names), ("dataset", graphs)):
            for name in added:
                self.stdout.write(f"{what}: {name}")
        if is_waited_for:
            complete(self)
            self.stdout.write("Its grids, runs and experiments are done.")


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


def _import_graph() -> bool:
    """Import the made-up graph with cited answers unless it exists; return whether it was imported.

    A dataset of that name is taken to be this graph and is left alone, because users may have asked
    questions about it since.
    """
    if Dataset.objects.filter(name=GRAPH_DATASET).exists():
        return False
    with open_material(DEMO_FILES / "graph") as material:
        import_dataset(material, plan_import(material, GRAPH_DATASET, None))
    return True
