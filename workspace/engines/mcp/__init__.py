"""MCP servers that people give to agents: started for a turn, their tools behind the turn's gate.

Which servers there are is decided by the service (workspace/servers/); what is here runs in the
turn process. See docs/design/engines.md#servers-of-tools.
"""
