"""The adjustable truth of the simulated cooks, and the names under which it can be asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Truth:
    """What is really so in the simulated kitchen; a gate should find it.

    Attributes
    ----------
    strength
        Convention strength in [0, 1]: how readily cooks coin words and habits of their own.
        0: none ever arise, so that an equally experienced stranger is as good as the incumbent.
    learning
        Chance in [0, 1] that a mistake becomes a task note.
    noise
        Factor >= 0 on the chance of taking words for something else.
    skill
        Share in [0, 1] of task notes that a cook can put to use; 0 makes a cook that never profits from experience.
    """

    strength: float = 1.0
    learning: float = 0.3
    noise: float = 1.0
    skill: float = 1.0

    def __post_init__(self) -> None:
        for name, top in (("strength", 1.0), ("learning", 1.0), ("noise", 20.0), ("skill", 1.0)):
            value = getattr(self, name)
            if not (math.isfinite(value) and 0 <= value <= top):
                raise ValueError(f"{name}={value!r}: accepted is a number from 0 to {top:g}")

    @classmethod
    def parse(cls, name: str) -> Truth:
        """Read a model name: ``simulated``, ``simulated:careless`` or ``simulated:strength=0,noise=2``.

        Raises
        ------
        ValueError
            Naming the part that cannot be read, or the value out of range, and what is accepted.
        """
        model, colon, variant = name.partition(":")
        if model != "simulated":
            raise ValueError(f"{name!r} is not the name of a simulated model: {_accepted()}")
        if not colon:
            return cls()
        if variant in VARIANTS:
            return VARIANTS[variant]
        settings: dict[str, float] = {}
        for part in variant.split(","):
            setting, number = _setting(part)
            if setting in settings:
                raise ValueError(
                    f"{setting} is given twice, the second time as {part.strip()!r}: {_accepted()}"
                )
            settings[setting] = number
        return replace(cls(), **settings)


def _setting(part: str) -> tuple[str, float]:
    setting, equals, value = (text.strip() for text in part.partition("="))
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not equals or math.isnan(number):
        raise ValueError(f"{part!r} is no variant and no NAME=NUMBER: {_accepted()}")
    if setting not in _names():
        raise ValueError(f"{part!r} names nothing that can be set: {_accepted()}")
    return setting, number


def _accepted() -> str:
    variants = ", ".join(f"simulated:{variant}" for variant in VARIANTS)
    return (
        f"accepted are simulated, {variants} or simulated:NAME=NUMBER,... with NAME one of "
        f"{', '.join(_names())}, each once"
    )


def _names() -> list[str]:
    return [field.name for field in fields(Truth)]


VARIANTS = {
    "plain": Truth(strength=0.0),
    "careless": Truth(noise=6.0, skill=0.2),
    "twin": Truth(),
}
"""Named truths: ``plain`` has no conventions, ``careless`` is a harmful candidate, ``twin`` a harmless one: the default
under another name."""
