"""The operations of the workspace: REST, /mcp and running turns all go through REGISTRY.

Permission is the principal's (access/), behaviour the nouns' (projects, chats/, triggers/); here
is only what joins a name to both.
"""

from __future__ import annotations

from config.kernel.mcp.operations import Registry
from workspace.operations.declared import OPERATIONS

REGISTRY = Registry()
for _operation in OPERATIONS:
    REGISTRY.add(_operation)
