from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("generation", "0025_calls_of_debris"),
    ]

    operations = [
        migrations.AddField(
            model_name="checkpoint",
            name="n_parameters",
            field=models.PositiveBigIntegerField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="checkpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("n_parameters", None), ("n_parameters__gte", 1), _connector="OR"
                ),
                name="checkpoint_parameters_from_1",
            ),
        ),
    ]
