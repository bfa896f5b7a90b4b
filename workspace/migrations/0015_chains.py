from django.db import migrations, models


def of_runs(apps, schema_editor):
    """What a firing queued goes on with its chain: it may wait, or be run again."""
    Turn = apps.get_model('workspace', 'Turn')
    fired = Turn.objects.filter(run__isnull=False).select_related('run')
    for turn in fired.iterator():
        turn.chain = [*turn.run.chain, f'{turn.run.project}/{turn.run.trigger}']
        turn.save(update_fields=['chain'])


class Migration(migrations.Migration):

    dependencies = [
        ('workspace', '0014_own_usage'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='chain',
            field=models.JSONField(db_default=[], default=list),
        ),
        migrations.RunPython(of_runs, migrations.RunPython.noop, elidable=True),
    ]
