"""Options: command line over environment over ini file, each checked, errors naming their source."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest


class Settings(NamedTuple):
    """The options of a session, resolved.

    Attributes
    ----------
    model
        Model of every agent.
    replacements
        Seat -> model that ``formed_teams.replace()`` takes.
    evidence
        Path of the evidence file.
    teams, formation, trials
        Teams of a cohort, formation episodes a team, evaluation episodes a team and condition.
    seed
        Root of every draw.
    budget, max_tokens, max_episodes
        Caps; None for none.
    price
        USD per prompt token and per completion token of models that litellm has no price for.
    concurrency
        Episodes in flight at once.
    cassette, cassette_file
        Mode of the cassette (None for no cassette), and its file.
    dask
        Address of a Dask scheduler that plays the episodes; None plays them here.
    inconclusive
        ``fail`` or ``warn``.
    fresh
        Play everything again instead of reading the evidence file.
    plan
        Print plans, run nothing.
    """

    model: str
    replacements: dict[str, str]
    evidence: str
    teams: int
    formation: int
    trials: int
    seed: int
    budget: float | None
    max_tokens: int | None
    max_episodes: int | None
    price: tuple[float, float] | None
    concurrency: int
    cassette: str | None
    cassette_file: str
    dask: str | None
    inconclusive: str
    fresh: bool
    plan: bool


class _Option(NamedTuple):
    """One option: its name without prefix, default, reader, help; without a metavar it is a flag."""

    name: str
    default: Any
    read: Callable[[str], Any]
    accepted: str
    help: str
    metavar: str = ""

    @property
    def dest(self) -> str:
        """Its name among pytest's options and in the ini file."""
        return f"swapgate_{self.name.replace('-', '_')}"

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return self.dest.upper()


_YES = ("1", "true", "yes", "on")
_NO = ("0", "false", "no", "off")


class _TwiceError(ValueError):
    """A seat was given two models."""


def _whole(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = int(text)
        if value < least:
            raise ValueError
        return value

    return read


def _money(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise ValueError
    return value


def _price(text: str) -> tuple[float, float]:
    prompt, completion = (float(part) for part in text.split(","))
    if not (math.isfinite(prompt) and math.isfinite(completion) and min(prompt, completion) >= 0):
        raise ValueError
    return prompt, completion


def _choice(*accepted: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in accepted:
            raise ValueError
        return text

    return read


def _flag(text: str) -> bool:
    word = text.lower()
    if word not in (*_YES, *_NO):
        raise ValueError
    return word in _YES


def _seats(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for given in text.strip().replace("\n", ";").split(";"):  # a model may have commas in its name
        seat, equals, model = (part.strip() for part in given.partition("="))
        if not (equals and seat and model):
            raise ValueError
        if seat in found:
            raise _TwiceError(seat)
        found[seat] = model
    return found


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError
    return text.strip()


_OPTIONS = (
    _Option("model", "simulated", _text, "provider/model as litellm names it, or simulated[:VARIANT]",
            "model of every agent", "MODEL"),
    _Option("evidence", ".swapgate/evidence.db", _text, "the path of a file",
            "file that keeps every finished episode", "PATH"),
    _Option("teams", 12, _whole(2), "a whole number >= 2 (even, for swaps)", "teams of a cohort", "K"),
    _Option("formation", 10, _whole(0), "a whole number >= 0", "formation episodes of each team", "E"),
    _Option("trials", 10, _whole(1), "a whole number >= 1", "evaluation episodes of each team and condition", "R"),
    _Option("seed", 0, _whole(0), "a whole number >= 0", "root of every draw", "SEED"),
    _Option("budget", None, _money, "a number of US dollars > 0",
            "cap on money of all workers together; nothing starts beyond it", "USD"),
    _Option("max-tokens", None, _whole(1), "a whole number >= 1",
            "cap on tokens of all workers together", "N"),
    _Option("price", None, _price, "two numbers >= 0, such as 2.5e-7,2e-6",
            "USD a prompt token and a completion token, for models that litellm has no price for", "IN,OUT"),
    _Option("cassette", None, _choice("none", "once", "new_episodes", "all"), "none, once, new_episodes or all",
            "record model answers to a file, or replay them: none only replays, once records a first run, "
            "new_episodes adds what is new, all records anew", "MODE"),
    _Option("cassette-file", "swapgate-cassette.json", _text, "the path of a file", "file of the cassette", "PATH"),
    _Option("dask", None, _text, "the address of a scheduler, such as tcp://127.0.0.1:8786",
            "play episodes on a Dask cluster", "ADDRESS"),
    _Option("max-episodes", None, _whole(1), "a whole number >= 1",
            "cap on episodes played by all workers together", "N"),
    _Option("concurrency", 16, _whole(1), "a whole number >= 1", "episodes in flight at once", "N"),
    _Option("inconclusive", "fail", _choice("fail", "warn"), "fail or warn",
            "what an inconclusive gate does to its test", "fail|warn"),
    _Option("replace", {}, _seats, "SEAT=MODEL, for example chef=openai/gpt-5-mini; several with ; between them",
            "model that formed_teams.replace() puts into a seat; may be given once a seat", "SEAT=MODEL"),
    _Option("fresh", False, _flag, "1, true, yes or on; 0, false, no or off",
            "play every episode again instead of reading the evidence file"),
    _Option("plan", False, _flag, "1, true, yes or on; 0, false, no or off",
            "print pairs, teams, episodes, calls, price and detectable effect of each gate; run nothing"),
)  # fmt: skip


def add_options(parser: pytest.Parser) -> None:
    """Register every option and its ini twin."""
    group = parser.getgroup("swapgate", "release gate for teams of LLM agents")
    # Since 9.2, native TOML may hold 8 or true as well as "8"; before, a text is asked for.
    unions = pytest.version_tuple >= (9, 2)
    for option in _OPTIONS:
        shown = "none" if option.default is None else option.default
        how: dict[str, Any] = {"action": "store_true"}
        kind: Any = (bool | str) if unions else None
        if option.metavar:
            how = {"action": "append" if option.name == "replace" else "store", "metavar": option.metavar}
            kind = (int | float | str) if unions else None
        default = f" (default: {shown})" if option.metavar and option.default != {} else ""
        group.addoption(
            f"--swapgate-{option.name}", dest=option.dest, default=None, help=f"{option.help}{default}", **how
        )
        parser.addini(
            option.dest, help=f"{option.help}; see --swapgate-{option.name}", type=kind, default=None
        )


def resolve(config: pytest.Config) -> Settings:
    """Read all options.

    Raises
    ------
    pytest.UsageError
        Naming the source, the value and what is accepted; or a variable that looks like an option and is none.
    """
    _check_variables()
    values = {option.dest.removeprefix("swapgate_"): _value(config, option) for option in _OPTIONS}
    return Settings(replacements=dict(values.pop("replace")), **values)


def _check_variables() -> None:
    """Refuse variables that look like options: a cap that is misspelt must not be ignored."""
    known = {option.variable: option for option in _OPTIONS}
    for name, value in os.environ.items():
        if not name.upper().startswith("SWAPGATE_") or name in known or not value:
            continue
        from difflib import get_close_matches

        near = get_close_matches(name.upper(), known, n=1, cutoff=0.0)
        raise pytest.UsageError(
            f"environment variable {name}: there is no such option; the nearest is {near[0]} (all begin with "
            f"SWAPGATE_, and pytest --help lists them as --swapgate-...)"
        )


def _value(config: pytest.Config, option: _Option) -> Any:
    given = config.getoption(option.dest)
    sources = [
        (f"--swapgate-{option.name}", ";".join(given) if isinstance(given, list) else given),
        # Empty means unset here, as anywhere; on the command line it is a variable that someone forgot to fill.
        (f"environment variable {option.variable}", os.environ.get(option.variable) or None),
        (f"ini option {option.dest}", config.getini(option.dest)),
    ]
    for source, text in sources:
        if text is None:
            continue
        try:
            return option.read(str(text))
        except _TwiceError as twice:
            raise pytest.UsageError(f"{source}={text!s}: the seat {twice} is given twice") from None
        except ValueError:
            raise pytest.UsageError(f"{source}={text!s}: accepted is {option.accepted}") from None
    return option.default
