"""Files: the one writer, YAML, mirrors, the watcher, backup. Knows no surface and no caller."""
