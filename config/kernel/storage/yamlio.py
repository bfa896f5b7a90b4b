"""YAML files: one YAML 1.2 core grammar for reads, edits that leave every other byte alone.

Nothing here touches a file: text in, values or text out. files.py reads and writes.
"""

from config.kernel.storage.yaml.errors import NotSpliceable, YamlError
from config.kernel.storage.yaml.reader import Document, parse
from config.kernel.storage.yaml.render import dump
from config.kernel.storage.yaml.splice import merge_entry, remove_entry, set_entry

__all__ = [
    "Document", "NotSpliceable", "YamlError", "dump",
    "merge_entry", "parse", "remove_entry", "set_entry",
]  # fmt: skip
