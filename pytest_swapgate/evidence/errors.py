"""What goes wrong with evidence, in one line."""

from __future__ import annotations


class EvidenceError(Exception):
    """An evidence file that cannot be used: one line, naming the file and what is accepted."""
