from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

ROLES = ["rater", "researcher", "admin"]


def create_groups(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create a group per role; one that exists stays as it is."""
    group = apps.get_model("auth", "Group")
    for role in ROLES:
        group.objects.get_or_create(name=role)


def delete_groups(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Delete the groups, and with them who is in which."""
    apps.get_model("auth", "Group").objects.filter(name__in=ROLES).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]
    operations = [migrations.RunPython(create_groups, delete_groups)]
