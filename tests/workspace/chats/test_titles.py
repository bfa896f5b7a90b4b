"""The automatic name of a chat: the words of its first prompt."""

from __future__ import annotations

import pytest

from workspace.chats import titles


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Fix  the\nbuild", "Fix the build"),
        ('#!runbook\nLook at\n{{date}}\n```Bash name=p\n{"command":"pwd"}\n```\n{{p.output}}',
         "Look at"),
        ("#!runbook\n```Bash name=tests\nmake test\n```\nDone.", "Bash make test"),
        ("#!runbook\n```Bash\nunclosed", "Bash unclosed"),
        ("What is on it?\n\nAttached files:\n- .svc/attachments/a.png (image/png, 9 bytes)",
         "What is on it?"),
        ("Attached files:\nnone", "Attached files: none"),
        ("a" * 200, "a" * 100 + "…"),
    ],
)  # fmt: skip
def test_a_chat_is_called_by_the_words_of_its_prompt(prompt: str, title: str):
    assert titles.title(prompt) == title
