from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('generation', '0019_speed_of_work'),
    ]

    operations = [
        migrations.AddField(
            model_name='import',
            name='without_implied',
            field=models.BooleanField(default=False),
        ),
    ]
