"""What all three parts stand on. Imports Django and libraries, never an app."""
