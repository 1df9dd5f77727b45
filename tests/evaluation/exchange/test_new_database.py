"""Tables made from the models must be those that the migrations make.

`make migrations-check` compares the tables of both. What is left are migrations that write rows or
SQL of their own, which tables made from the models do not have.
"""

from importlib import import_module
from pkgutil import iter_modules

from django.db.migrations import Migration, RunPython, RunSQL

# The rows of the first are made with the tables. The others change rows that were there before.
KNOWN = {
    ("accounts", "0002_roles"),
    ("annotation", "0017_origins"),
    ("evaluation", "0004_move_checkpoints"),
    ("evaluation", "0012_imported_scores_without_threshold"),
    ("generation", "0009_asked_questions_are_ad_hoc"),
    ("generation", "0017_pieces_of_work"),
    ("generation", "0024_forms_of_dialogs"),
}
OURS = "accounts", "generation", "annotation", "evaluation"


def test_no_other_migration_writes_anything_into_a_new_database():
    writing = (RunPython, RunSQL)

    found = {
        (app, module.name)
        for app in OURS
        for module in iter_modules(import_module(f"{app}.migrations").__path__)
        if any(isinstance(each, writing) for each in migration(app, module.name).operations)
    }

    assert found == KNOWN


def migration(app: str, name: str) -> Migration:
    found: type[Migration] = import_module(f"{app}.migrations.{name}").Migration
    return found(name, app)
