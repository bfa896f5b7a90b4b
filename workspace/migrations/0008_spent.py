"""What chats cost and what their agents were told; each transcript is read once more for it."""

from django.db import migrations, models


def read_again(apps, schema_editor):
    """A stamp that fits no file: the sums begin with the first turn, not with the upgrade."""
    apps.get_model('workspace', 'Chat').objects.update(transcript_stat='0:0:0')


class Migration(migrations.Migration):

    dependencies = [
        ('workspace', '0007_network'),
    ]

    operations = [
        migrations.AddField(
            model_name='chat',
            name='cost',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='chat',
            name='context',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='chat',
            name='instructions',
            field=models.JSONField(null=True),
        ),
        migrations.RunPython(read_again, migrations.RunPython.noop, elidable=True),
    ]
