"""MCP servers that people give to agents: started for a turn, their tools behind the turn's gate.

The service decides which servers there are (workspace/servers/); the code here runs in the turn
process. See docs/design/engines.md#servers-of-tools.
"""
