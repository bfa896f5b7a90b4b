"""Working trees: what turns changed in them, kept so that it can be undone."""
