"""Checkpoints belong to the material now, where grids use them too: move those that are listed."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

COLUMNS = (
    "name",
    "backend",
    "location",
    "revision",
    "entailment_index",
    "served_name",
    "key_variable",
    "added_by_id",
    "created_at",
)
BATCH = 500


def _move(apps: Apps, source: str, target: str) -> None:
    rows = apps.get_model(source, "Checkpoint").objects.order_by("pk")
    copies = apps.get_model(target, "Checkpoint")
    copies.objects.bulk_create((copies(**row) for row in rows.values(*COLUMNS)), batch_size=BATCH)
    created = dict(rows.values_list("name", "created_at"))
    copied = list(copies.objects.all())
    for row in copied:  # creation has set it anew
        row.created_at = created[row.name]
    copies.objects.bulk_update(copied, ["created_at"], batch_size=BATCH)
    rows.delete()


def move(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _move(apps, "evaluation", "generation")


def move_back(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _move(apps, "generation", "evaluation")


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0003_all_metrics"),
        ("generation", "0003_checkpoints_samples_experiments"),
    ]

    operations = [migrations.RunPython(move, move_back)]
