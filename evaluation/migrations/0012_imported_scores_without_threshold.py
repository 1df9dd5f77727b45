import re

from django.db import migrations, models

THRESHOLD = re.compile(r"(?:^|\|)t(>=)?:([0-9.eE+-]+)(?=\||$)")  # as imports read it


def forget_assumed(apps, schema_editor):
    """Remove the threshold 0.5 from imported runs whose signature names none."""
    runs = apps.get_model("evaluation", "MetricRun").objects
    without = [
        pk
        for pk, signature in runs.filter(is_imported=True).values_list("pk", "signature")
        if not THRESHOLD.search(signature)
    ]
    for start in range(0, len(without), 500):
        runs.filter(pk__in=without[start : start + 500]).update(threshold=None)


def assume_again(apps, schema_editor):
    runs = apps.get_model("evaluation", "MetricRun").objects
    runs.filter(threshold=None).update(threshold=0.5)


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0011_speed_of_work'),
    ]

    operations = [
        migrations.AlterField(
            model_name='metricrun',
            name='threshold',
            field=models.FloatField(blank=True, default=0.5, null=True),
        ),
        migrations.AddConstraint(
            model_name='metricrun',
            constraint=models.CheckConstraint(condition=models.Q(('is_imported', True), ('threshold__isnull', False), _connector='OR'), name='run_made_here_has_threshold'),
        ),
        migrations.RunPython(forget_assumed, assume_again),
    ]
