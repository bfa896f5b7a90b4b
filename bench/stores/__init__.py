"""What each mode of stores costs, side by side, and what grows with their rows."""
