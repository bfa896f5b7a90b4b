"""One urlconf per surface: main, review, dashboard."""
