"""The listeners of this machine: found through the kernel, identified by their process and
files."""
