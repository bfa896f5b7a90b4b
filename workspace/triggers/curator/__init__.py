"""The curator: after user turns it keeps OVERVIEW.md and CHANGELOG.md (workspace.md 8.6).

`passes` decides when and starts one, `briefing` says what the model is told, `answer` reads what
it answered, `documents` writes it. It works without tools: the service writes the two files.
"""
