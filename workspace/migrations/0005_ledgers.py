"""Indexes that keep every list of runs, turns and calls as fast at a million rows as at none."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workspace', '0004_homes'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='run',
            name='workspace_r_project_ee7e08_idx',
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='client',
            field=models.TextField(blank=True),
        ),
        migrations.AlterField(
            model_name='run',
            name='project',
            field=models.CharField(max_length=128),
        ),
        migrations.AlterField(
            model_name='run',
            name='queued_at',
            field=models.DateTimeField(db_index=True),
        ),
        migrations.AlterField(
            model_name='run',
            name='status',
            field=models.CharField(max_length=16),
        ),
        migrations.AlterField(
            model_name='turn',
            name='chat',
            field=models.CharField(max_length=36),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['client', 'id'], name='workspace_a_client_01770c_idx'),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['client', 'time', 'outcome'], name='workspace_a_client_955ad4_idx'),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['operation', 'id'], name='workspace_a_operati_e3c70c_idx'),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['project', 'id'], name='workspace_a_project_92275e_idx'),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['outcome', 'id'], name='workspace_a_outcome_794d44_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['project', 'id'], name='workspace_r_project_4ad08a_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['project', 'trigger', 'id'], name='workspace_r_project_fc3f2c_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['project', 'status', 'id'], name='workspace_r_project_dcd1f7_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['status', 'id'], name='workspace_r_status_83f5c5_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['trigger', 'id'], name='workspace_r_trigger_57b89a_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['cause', 'id'], name='workspace_r_cause_c24191_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['client', 'id'], name='workspace_r_client_c622b4_idx'),
        ),
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(fields=['chat', 'id'], name='workspace_t_chat_04affa_idx'),
        ),
    ]
