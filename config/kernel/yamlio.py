"""YAML files: one YAML 1.2 core grammar for reads, edits that leave every other byte alone.

Nothing here touches a file: text in, values or text out. kernel/files.py reads and writes.
"""

from config.kernel.yaml.errors import NotSpliceable, YamlError
from config.kernel.yaml.reader import Document, parse
from config.kernel.yaml.render import dump
from config.kernel.yaml.splice import merge_entry, remove_entry, set_entry

__all__ = [
    "Document", "NotSpliceable", "YamlError", "dump",
    "merge_entry", "parse", "remove_entry", "set_entry",
]  # fmt: skip
