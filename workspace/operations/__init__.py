"""The operations of the workspace: REST, /mcp and running turns all go through REGISTRY.

Permission is the principal's (access/), behaviour the nouns' (projects, chats/, triggers/); here
is only what joins a name to both. The specification closes its catalogue (2.3, 5.6.4), so what
only people do is declared in a registry of its own, PEOPLE, which no MCP endpoint ever sees.
"""

from __future__ import annotations

from config.kernel.mcp.operations import Registry
from workspace.operations.declared import OPERATIONS
from workspace.operations.people import OPERATIONS as OF_PEOPLE

REGISTRY = Registry()
for _operation in OPERATIONS:
    REGISTRY.add(_operation)

PEOPLE = Registry()
for _operation in OF_PEOPLE:
    PEOPLE.add(_operation)
