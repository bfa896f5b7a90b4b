"""What the message of a turn becomes for its engine: its pictures, and what a further try says."""
