"""Operations and MCP: the registry, its arguments, and the endpoint that serves it."""
