"""The tables of a new database, made from the models and not by going through all migrations."""

from django.apps import apps
from django.contrib.auth.models import Group
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model

from accounts.access import Role


def create_tables_if_empty() -> None:
    """Create all tables if the database has none, and note all migrations as done.

    This takes a fraction of a second, and the migrations of a new database take ten seconds. It is
    one transaction, so that a process that is killed leaves an empty database. The groups of the
    roles are the only rows that migrations add to a new database.
    """
    if connection.introspection.table_names():
        return
    recorder = MigrationRecorder(connection)
    models: list[type[Model]] = [*apps.get_models(), recorder.Migration]
    with connection.schema_editor() as editor:
        for model in models:
            editor.create_model(model)
        Group.objects.bulk_create(Group(name=role) for role in Role)
        for app, name in MigrationLoader(connection).disk_migrations:
            recorder.record_applied(app, name)
