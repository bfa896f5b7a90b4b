"""The passages of the search, and SQLite's trigram index of their text."""

import django.db.models.deletion
from django.db import migrations, models

INDEX = """
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
NO_INDEX = """
DROP TRIGGER workspace_passage_came;
DROP TRIGGER workspace_passage_went;
DROP TABLE workspace_passage_text;
"""


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
        migrations.RunSQL(INDEX, NO_INDEX),
    ]
