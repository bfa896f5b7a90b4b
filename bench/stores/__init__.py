"""What each mode of stores costs, side by side, and which costs grow with the rows."""
