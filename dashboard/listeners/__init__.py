"""What listens on this machine: found by asking the kernel, known by its process and files."""
