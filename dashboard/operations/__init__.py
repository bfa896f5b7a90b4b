"""What may be done: HTTP, MCP and the command line all go through these, each in its noun's
module.

Each takes flat arguments as they were sent, and returns the body of the HTTP answer; a write
returns Written. They block, so they must be called in a thread. They reach the daemon through
`current()` and `read()`, which refuse with `starting` until the files are loaded.
"""
