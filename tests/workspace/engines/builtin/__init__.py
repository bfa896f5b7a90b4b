"""The builtin engine in real turn processes, against scripted model servers on loopback."""
