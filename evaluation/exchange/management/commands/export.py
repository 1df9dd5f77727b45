"""Export a study with its dataset, or a dataset alone, in the interchange format.

With --bundle the zip also has every report on the study or dataset, and a manifest of them.
`manage.py reproduce` makes them again from it.
"""

import os
import shutil
import tempfile
from argparse import RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Study
from evaluation.reports.bundle import write_bundle
from evaluation.votes.export import export_folder, export_zip
from generation.management.named import find_named
from generation.models import Dataset

EXAMPLE = """example:
  manage.py export pilot pilot.zip
  manage.py export "Demo" demo-folder
  manage.py export pilot pilot-bundle.zip --bundle
"""


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument(
            "name", help="Name or slug of a study or a dataset. A study is looked for first."
        )
        parser.add_argument(
            "path", type=Path, help="A new folder, or a new file whose name ends in .zip."
        )
        parser.add_argument(
            "--bundle", action="store_true", help="Add all reports and their manifest. Needs .zip."
        )

    def handle(self, *, name: str, path: Path, bundle: bool, **options: Any) -> None:
        study = find_named(Study.objects.select_related("dataset"), name)
        dataset = study.dataset if study else find_named(Dataset.objects.all(), name)
        if not dataset:
            raise CommandError(
                f"No study and no dataset has the name or the slug {name!r}. Both are matched "
                "exactly."
            )
        if bundle and path.suffix != ".zip":
            raise CommandError(f"{path}: a bundle is a zip. Give a name that ends in .zip.")
        if path.exists():
            raise CommandError(f"{path} exists already. Give the path of a new folder or file.")
        if not path.absolute().parent.is_dir():
            raise CommandError(f"There is no folder {path.absolute().parent}. Make it first.")
        # It is written beside its target first, so that it appears whole or not at all.
        unfinished = Path(tempfile.mkdtemp(prefix=".export-", dir=path.absolute().parent))
        try:
            whole = unfinished / path.name
            if bundle:
                with whole.open("wb") as out:
                    write_bundle(study or dataset, out, path.name)
            elif path.suffix == ".zip":
                with whole.open("wb") as out:
                    export_zip(dataset, study, out)
            else:
                export_folder(dataset, study, whole)
            os.replace(whole, path)
        finally:
            shutil.rmtree(unfinished)
        self.stdout.write(self.style.SUCCESS(f"Exported {name!r} to {path}."))
