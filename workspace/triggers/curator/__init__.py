"""The curator: after user turns it keeps OVERVIEW.md and CHANGELOG.md.

`passes` decides when and starts one, `briefing` says what the model is given, `answer` reads what
it answered, `documents` writes it. It works without tools: the service writes the two files. See
docs/design/engines.md#the-curator.
"""
