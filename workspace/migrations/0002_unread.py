"""Unread chats; the rows of chats mirror files, so they are made anew with the new columns."""

from django.db import migrations, models


def forget_chats(apps, schema_editor):
    apps.get_model("workspace", "Chat").objects.using(schema_editor.connection.alias).delete()


class Migration(migrations.Migration):
    dependencies = [("workspace", "0001_initial")]

    operations = [
        migrations.RunPython(forget_chats, migrations.RunPython.noop, elidable=True),
        migrations.AddField("chat", "arrived", models.BigIntegerField(default=0)),
        migrations.AddField("chat", "unread", models.BooleanField(default=False)),
    ]
