"""What may be done: HTTP, MCP and the command line all go through these, each in its noun's module.

Each takes flat arguments as they were sent, and returns the body of the HTTP answer; a write
returns Written. They block, so they belong in a thread; the daemon is reached through `current()`
and `read()`, which refuse with `starting` until the files are loaded.
"""
