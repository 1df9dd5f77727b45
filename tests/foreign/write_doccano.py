"""Write the exports that doccano 1.8.4 makes of a small project, by its own models and export.

The project of text classification has three texts, and the labels of two annotators who work apart.
A second one has the same texts and labels, and its annotators work together. The database is in a
folder that is deleted afterwards.
Usage: python write_doccano.py FOLDER
"""

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import backend

sys.path.insert(0, str(Path(backend.__file__).parent))

ITEMS = [  # text, columns that are uploaded with it, labels and comments of anna and bert
    ("She did.", {"question": "Who built it?", "model": "small"}, (["yes"], ["yes"]), ()),
    ("In 1847.", {"question": "When?", "model": "small"}, (["no"], ["no", "unsure"]), ("Late.",)),
    ("Of slate.", {"question": "Of what?", "model": "large"}, (["no"], []), ()),
]
FILES = {"jsonl": "JSONL", "json": "JSON", "csv": "CSV"}


def export(target: Path, form: str, *, together: bool) -> None:
    """Write the zip of a project as doccano's page downloads it."""
    from data_export.celery_tasks import export_dataset
    from django.contrib.auth.models import User
    from examples.models import Comment, Example
    from label_types.models import CategoryType
    from labels.models import Category
    from projects.models import Member, TextClassificationProject
    from roles.models import Role

    people = [User.objects.get_or_create(username=name)[0] for name in ("anna", "bert")]
    project = TextClassificationProject.objects.create(
        name="Supported?",
        project_type="DocumentClassification",
        collaborative_annotation=together,
        created_by=people[0],
    )
    role, _ = Role.objects.get_or_create(name="annotator")
    for person in people:
        Member.objects.get_or_create(user=person, project=project, defaults={"role": role})
    names = ("yes", "no", "unsure")
    types = {name: CategoryType.objects.create(text=name, project=project) for name in names}
    for text, meta, labels, comments in ITEMS:
        example = Example.objects.create(project=project, text=text, meta=meta)
        for person, given in zip(people, labels, strict=True):
            for label in given:
                Category.objects.create(example=example, user=person, label=types[label])
        for comment in comments:
            Comment.objects.create(example=example, user=people[1], text=comment)
    shutil.move(export_dataset(project.id, form), target)


def main(folder: Path) -> None:
    with TemporaryDirectory() as scratch:
        os.environ["DATABASE_URL"] = f"sqlite:///{scratch}/doccano.sqlite3"
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.development"
        os.environ["SECRET_KEY"] = "of a database that is deleted"
        import django

        django.setup()
        from django.conf import settings
        from django.core.management import call_command

        settings.MEDIA_ROOT = scratch
        call_command("migrate", verbosity=0)
        for ending, form in FILES.items():
            export(folder / f"doccano_{ending}.zip", form, together=False)
        export(folder / "doccano_together.zip", "JSONL", together=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
