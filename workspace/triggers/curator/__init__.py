"""The curator: after user turns it keeps OVERVIEW.md and CHANGELOG.md.

`passes` decides when and starts a pass, `briefing` makes the message for the model, `answer` parses
the model's answer, `documents` writes it. The pass works without tools: the service writes the two
files. See docs/design/engines.md#the-curator.
"""
