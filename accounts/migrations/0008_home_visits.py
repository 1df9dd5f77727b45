from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0007_api_token_ends_on'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='home_seen_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='user',
            name='home_news_since',
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
