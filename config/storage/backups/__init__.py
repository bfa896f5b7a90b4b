"""Everything a person has in one file, and back from it."""
