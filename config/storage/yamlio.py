"""YAML files: one YAML 1.2 core grammar for reading, and edits that leave every other byte alone.

Nothing here touches a file: text in, values or text out. files.py reads and writes files.
"""

from config.storage.yaml.comments import cover, lost_comments, uncover
from config.storage.yaml.edits import same
from config.storage.yaml.errors import NotSpliceable, YamlError
from config.storage.yaml.nodes import MERGE, Document
from config.storage.yaml.reader import parse
from config.storage.yaml.recent import clear as forget_recent
from config.storage.yaml.recent import parse as parse_recent
from config.storage.yaml.render import dump
from config.storage.yaml.scalars import Block, Quoted
from config.storage.yaml.splice import merge_entry, remove_entry, set_entry

__all__ = [
    "MERGE", "Block", "Document", "NotSpliceable", "Quoted", "YamlError", "cover", "dump",
    "forget_recent", "lost_comments", "merge_entry", "parse", "parse_recent", "remove_entry",
    "same", "set_entry", "uncover",
]  # fmt: skip
