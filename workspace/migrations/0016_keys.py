from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [
        ('workspace', '0015_chains'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='key',
            field=models.CharField(blank=True, db_default='', default='', max_length=255),
        ),
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(
                condition=~Q(key=''), fields=['chat', 'key'], name='turns_with_a_key'
            ),
        ),
    ]
