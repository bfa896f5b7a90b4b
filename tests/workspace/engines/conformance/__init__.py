"""The same turns on every engine (engine.md 10.4): one module of rows, one driver per engine."""
