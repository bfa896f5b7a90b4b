"""What the machine says of its processes, ports and time."""
