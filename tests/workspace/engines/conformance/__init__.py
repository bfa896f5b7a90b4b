"""The same turns on every engine: one module of rows, one driver per engine."""
