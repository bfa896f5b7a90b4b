from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workspace', '0011_notify'),
    ]

    operations = [
        migrations.AddField(
            model_name='auditentry',
            name='turn',
            field=models.CharField(blank=True, db_default='', default='', max_length=32),
        ),
    ]
