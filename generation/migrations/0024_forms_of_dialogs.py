"""Grids made before dialogs had forms ask in the native form, and listed models get their kind."""

import json
from pathlib import Path
from typing import Any

from django.db import migrations


def say_the_form(apps: Any, schema_editor: Any) -> None:
    """Write the native form, which was the only one, into the choices of all grids."""
    Grid = apps.get_model("generation", "Grid")
    for grid in Grid.objects.only("pk", "choices").iterator(chunk_size=200):
        grid.choices = {**grid.choices, "form": ["native"]}
        grid.save(update_fields=["choices"])


def say_the_kind(apps: Any, schema_editor: Any) -> None:
    """Store of each language model whether it takes messages, by its address or its files."""
    Checkpoint = apps.get_model("generation", "Checkpoint")
    for model in Checkpoint.objects.filter(backend__in=["openai", "language-model"]):
        place = model.location.rstrip("/")
        if model.backend == "openai":
            model.is_chat = place.endswith("/chat/completions") or not place.endswith("/completions")
        elif Path(place).is_dir():
            model.is_chat = _has_chat_template(Path(place))
        model.save(update_fields=["is_chat"])


def _has_chat_template(folder: Path) -> bool:
    tokenizer = folder / "tokenizer_config.json"
    if any(folder.glob("chat_template*")):
        return True
    try:
        return bool(json.loads(tokenizer.read_text("utf-8")).get("chat_template"))
    except (OSError, ValueError, AttributeError):
        return False


def forget_the_form(apps: Any, schema_editor: Any) -> None:
    """Take the form out of the choices of all grids."""
    Grid = apps.get_model("generation", "Grid")
    for grid in Grid.objects.only("pk", "choices").iterator(chunk_size=200):
        grid.choices.pop("form", None)
        grid.save(update_fields=["choices"])


class Migration(migrations.Migration):
    dependencies = [("generation", "0023_chat_models")]

    operations = [
        migrations.RunPython(say_the_form, forget_the_form),
        migrations.RunPython(say_the_kind, migrations.RunPython.noop),
    ]
