"""A fork spent nothing of what it inherited; the transcript of each is read once more for it."""

from django.db import migrations


def read_again(apps, schema_editor):
    """A stamp that fits no file. What a record holds is asked here: not every store can."""
    chats = apps.get_model('workspace', 'Chat').objects
    records = chats.values_list('pk', 'record').iterator()
    forks = [pk for pk, record in records if isinstance(record, dict) and 'forkedFrom' in record]
    for at in range(0, len(forks), 500):
        chats.filter(pk__in=forks[at : at + 500]).update(transcript_stat='0:0:0')


class Migration(migrations.Migration):

    dependencies = [
        ('workspace', '0013_turns_by_state'),
    ]

    operations = [
        migrations.RunPython(read_again, migrations.RunPython.noop, elidable=True),
    ]
