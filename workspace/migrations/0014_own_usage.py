"""A fork spent nothing of what it inherited; the transcript of each is read once more for it."""

from django.db import migrations


def read_again(apps, schema_editor):
    """A stamp that fits no file."""
    forks = apps.get_model('workspace', 'Chat').objects.filter(record__has_key='forkedFrom')
    forks.update(transcript_stat='0:0:0')


class Migration(migrations.Migration):

    dependencies = [
        ('workspace', '0013_turns_by_state'),
    ]

    operations = [
        migrations.RunPython(read_again, migrations.RunPython.noop, elidable=True),
    ]
