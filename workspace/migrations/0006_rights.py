"""The clients that a run and a turn descend from, and how deep a run may spawn."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workspace", "0005_ledgers")]

    operations = [
        migrations.AddField("run", "clients", models.JSONField(default=list, db_default=[])),
        migrations.AddField("run", "spawn_cap", models.IntegerField(null=True)),
        migrations.AddField("turn", "clients", models.JSONField(default=list, db_default=[])),
    ]
