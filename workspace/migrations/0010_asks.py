from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workspace", "0009_retries"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="asks",
            field=models.JSONField(db_default=[], default=list),
        ),
        migrations.AddField(
            model_name="turn",
            name="waits",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
