from django.db import migrations, models


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
    ]
