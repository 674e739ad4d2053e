"""Chance that depends on nothing but the seed and the words at hand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """Repeatable draws: the same seed and the same words give the same draws.

    Parameters
    ----------
    words
        What the draws depend on: the seed, the prompt, or a part of it.
    """

    __slots__ = ("_key", "_pool")

    def __init__(self, *words: str) -> None:
        self._key = hashlib.blake2b("\0".join(words).encode(), digest_size=32).digest()
        self._pool = self._key

    def uniform(self) -> float:
        """Return a number in [0, 1)."""
        if len(self._pool) < 4:
            self._key = hashlib.blake2b(self._key, digest_size=32).digest()
            self._pool = self._key
        word, self._pool = self._pool[:4], self._pool[4:]
        return int.from_bytes(word, "big") / 2**32

    def happens(self, probability: float) -> bool:
        """Whether something of that probability happens."""
        return self.uniform() < probability

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options, each as likely."""
        return options[int(self.uniform() * len(options))]
