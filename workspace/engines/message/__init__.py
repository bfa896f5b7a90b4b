"""What the message of a turn becomes for its engine: its pictures, and its text in a later try."""
