"""The parts of `python -m bench dashboard`: figures D1-D14, S9-S11."""
