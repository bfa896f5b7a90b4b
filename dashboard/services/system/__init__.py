"""What the machine tells of its processes, ports and time."""
