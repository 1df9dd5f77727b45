"""Questions that were asked on a page are ad-hoc ones: their keys are hashes of their words."""

from collections.abc import Iterator
from hashlib import sha256

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

IS_ASKED = r"^asked-[0-9a-f]{16}$"
BATCH = 500


def _asked(apps: Apps) -> Iterator[int]:
    """Yield the questions with the key that asking them has given them."""
    turns = apps.get_model("generation", "Turn").objects.filter(
        index=0, example__key__regex=IS_ASKED, example__kg_question__isnull=False
    )
    for example, key, text in turns.values_list("example", "example__key", "text"):
        if key == f"asked-{sha256(text.encode()).hexdigest()[:16]}":
            yield example


def mark(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    examples = apps.get_model("generation", "Example").objects
    asked = list(_asked(apps))
    for start in range(0, len(asked), BATCH):
        examples.filter(pk__in=asked[start : start + BATCH]).update(is_ad_hoc=True)


def forget(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The marks go with their column."""


class Migration(migrations.Migration):
    dependencies = [("generation", "0008_example_is_ad_hoc")]

    operations = [migrations.RunPython(mark, forget)]
