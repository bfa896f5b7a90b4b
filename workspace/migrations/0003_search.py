"""The passages of the search, and a trigram index of their text: FTS5 or pg_trgm."""

import django.db.models.deletion
from django.db import migrations, models

FTS5 = """
CREATE VIRTUAL TABLE workspace_passage_text USING fts5(
    text, content='workspace_passage', content_rowid='id', tokenize='trigram case_sensitive 1'
);
CREATE TRIGGER workspace_passage_came AFTER INSERT ON workspace_passage BEGIN
    INSERT INTO workspace_passage_text(rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER workspace_passage_went AFTER DELETE ON workspace_passage BEGIN
    INSERT INTO workspace_passage_text(workspace_passage_text, rowid, text)
    VALUES ('delete', old.id, old.text);
END;
"""
NO_FTS5 = """
DROP TRIGGER workspace_passage_came;
DROP TRIGGER workspace_passage_went;
DROP TABLE workspace_passage_text;
"""
TRIGRAMS = """
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE INDEX workspace_passage_text ON workspace_passage USING gin (text gin_trgm_ops);
"""
NO_TRIGRAMS = "DROP INDEX workspace_passage_text;"


def add_index(apps, schema_editor):
    _run(schema_editor, sqlite=FTS5, postgresql=TRIGRAMS)


def remove_index(apps, schema_editor):
    _run(schema_editor, sqlite=NO_FTS5, postgresql=NO_TRIGRAMS)


def _run(schema_editor, **statements):
    migrations.RunSQL(statements[schema_editor.connection.vendor]).database_forwards(
        "workspace", schema_editor, None, None
    )


class Migration(migrations.Migration):
    dependencies = [("workspace", "0002_unread")]

    operations = [
        migrations.CreateModel(
            name="Passage",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("offset", models.BigIntegerField()),
                ("text", models.TextField()),
                (
                    "chat",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspace.chat",
                    ),
                ),
            ],
            options={"ordering": ("-id",)},
        ),
        migrations.CreateModel(
            name="Searched",
            fields=[
                (
                    "chat",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="workspace.chat",
                    ),
                ),
                ("inode", models.BigIntegerField()),
                ("upto", models.BigIntegerField()),
            ],
        ),
        migrations.RunPython(add_index, remove_index),
    ]
