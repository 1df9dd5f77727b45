"""A grid of calls is called a grid. Tables, columns, constraints and rows stay as they are."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

NAMES = {"Experiment": "Grid", "ExperimentSetup": "GridSetup", "ExperimentChunk": "GridChunk"}
# The related name of the key to a grid, by model.
KEYS = {"GridSetup": "cells", "GridChunk": "chunks", "Call": "calls"}
NAMED_BY_FIELDS = (
    ("experimentsetup", "experiment_setup_once"),
    ("experimentchunk", "experiment_chunk_number_once"),
)


def key_to_grid(related_name: str) -> models.ForeignKey:  # type: ignore[type-arg]
    return models.ForeignKey(
        "generation.grid",
        django.db.models.deletion.CASCADE,
        db_column="experiment_id",
        related_name=related_name,
    )


class Migration(migrations.Migration):
    dependencies = [("generation", "0014_rankings")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                *(migrations.RemoveConstraint(model, name) for model, name in NAMED_BY_FIELDS),
                migrations.RemoveIndex("experimentchunk", "experiment_chunk_to_ask"),
                migrations.RemoveIndex("call", "call_failed"),
                *(
                    migrations.AlterModelTable(old, f"generation_{old.lower()}") for old in NAMES
                ),
                *(migrations.RenameModel(old, new) for old, new in NAMES.items()),
                *(migrations.RenameField(model, "experiment", "grid") for model in KEYS),
                *(
                    migrations.AlterField(model, "grid", key_to_grid(related_name))
                    for model, related_name in KEYS.items()
                ),
                migrations.RenameField("grid", "grid", "choices"),
                migrations.AlterField("grid", "choices", models.JSONField(db_column="grid")),
                migrations.AlterField(
                    "grid",
                    "dataset",
                    models.ForeignKey(
                        "generation.dataset",
                        django.db.models.deletion.CASCADE,
                        related_name="grids",
                    ),
                ),
                migrations.AlterField(
                    "grid",
                    "sample",
                    models.ForeignKey(
                        "generation.sample",
                        django.db.models.deletion.PROTECT,
                        blank=True,
                        null=True,
                        related_name="grids",
                    ),
                ),
                migrations.AlterField(
                    "grid",
                    "setups",
                    models.ManyToManyField(
                        "generation.setup", related_name="grids", through="generation.GridSetup"
                    ),
                ),
                migrations.AddConstraint(
                    "gridsetup",
                    models.UniqueConstraint(
                        fields=["grid", "setup"], name="experiment_setup_once"
                    ),
                ),
                migrations.AddConstraint(
                    "gridchunk",
                    models.UniqueConstraint(
                        fields=["grid", "number"], name="experiment_chunk_number_once"
                    ),
                ),
                migrations.AddIndex(
                    "gridchunk",
                    models.Index(
                        fields=["grid", "number"],
                        condition=~Q(state="done"),
                        name="experiment_chunk_to_ask",
                    ),
                ),
                migrations.AddIndex(
                    "call",
                    models.Index(
                        fields=["grid"], condition=Q(response__isnull=True), name="call_failed"
                    ),
                ),
            ]
        ),
    ]
