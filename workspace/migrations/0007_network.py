"""What a trigger lets its turns reach, and what the turns of a chat reached."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workspace', '0006_rights'),
    ]

    operations = [
        migrations.AddField(
            model_name='chat',
            name='hosts',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='turn',
            name='network',
            field=models.CharField(blank=True, db_default='', default='', max_length=8),
        ),
    ]
