"""What a user's function is, so that stored outcomes are read for it only while nothing around it has changed."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Environment variables that change by themselves and say nothing about the system under test.
_VOLATILE = frozenset(
    """
    PYTEST_CURRENT_TEST PYTEST_VERSION PYTEST_XDIST_WORKER PYTEST_XDIST_WORKER_COUNT PYTEST_XDIST_TESTRUNUID
    SHLVL _ PWD OLDPWD COLUMNS LINES TERM COLORTERM PS1 WINDOWID STY TMUX TMUX_PANE
    SSH_CLIENT SSH_CONNECTION SSH_TTY PY_COLORS NO_COLOR FORCE_COLOR
    LITELLM_LOCAL_MODEL_COST_MAP LITELLM_OFFLINE_MODE
    """.split()  # noqa: SIM905
)
# Options that choose, order, run or print tests; any other option may change the system under test.
_HARMLESS = tuple(
    """
    -q -v -s -x -l -n -k -m -p -r -W --quiet --verbose --capture --showlocals --exitfirst --maxfail --tb --color
    --lf --ff --nf --sw --last-failed --failed-first --new-first --stepwise --cache-clear --deselect --ignore
    --dist --numprocesses --max-worker --durations --junitxml --junit-xml --cov --timeout --strict --randomly
    --reruns --only-rerun --force-flaky --no-header --no-summary --basetemp --rootdir --confcutdir --import-mode
    --swapgate
    """.split()  # noqa: SIM905
)


def identity_of(
    role: str, function: Callable[..., Any], *, gate: str, root: Path, arguments: tuple[str, ...]
) -> str:
    """Return the SHA-256 of everything local that could change a function's outcomes.

    It covers the gate, the role, the function with its bound plain values, the source of every loaded module
    below ``root``, the environment variables and the command line. Whatever is behind a network is not covered.
    """
    parts = [gate, role, *_function_parts(function), _sources(root), _environment(), *_telling(arguments)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _function_parts(function: Any) -> list[str]:
    if isinstance(function, functools.partial):
        bound = [repr(_plain(value)) for value in (*function.args, *sorted(function.keywords.items()))]
        return ["partial", *bound, *_function_parts(function.func)]
    owner = getattr(function, "__self__", None)
    raw = getattr(function, "__func__", function)
    code = getattr(raw, "__code__", None)
    parts = [
        str(getattr(raw, "__module__", "")),
        str(getattr(raw, "__qualname__", type(function).__qualname__)),
    ]
    if owner is not None:
        parts.append(repr(sorted((k, repr(_plain(v))) for k, v in getattr(owner, "__dict__", {}).items())))
    if code is not None:
        parts.append(code.co_code.hex())
        parts.append(repr(code.co_consts) if not any(map(inspect.iscode, code.co_consts)) else "nested")
        cells = inspect.getclosurevars(raw).nonlocals if getattr(raw, "__closure__", None) else {}
        parts.append(repr(sorted((name, repr(_plain(value))) for name, value in cells.items())))
        parts.append(repr([repr(_plain(value)) for value in (raw.__defaults__ or ())]))
    return parts


def _plain(value: Any) -> Any:
    """Return a value whose text means the same in another run; of anything else only its type."""
    if value is None or isinstance(value, str | int | float | bool | bytes):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return sorted((repr(_plain(k)), _plain(v)) for k, v in value.items())
    if inspect.isfunction(value):
        return value.__qualname__
    return type(value).__qualname__


def _sources(root: Path) -> str:
    digest = hashlib.sha256()
    files = set()
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and file.endswith(".py"):
            path = Path(file)
            if path.is_relative_to(root) and "site-packages" not in path.parts:
                files.add(path)
    for path in sorted(files):
        try:
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
        except OSError:
            digest.update(b"unreadable")
    return digest.hexdigest()


def _environment() -> str:
    kept = sorted(f"{name}={value}" for name, value in os.environ.items() if name not in _VOLATILE)
    return hashlib.sha256("\0".join(kept).encode("utf-8", "surrogateescape")).hexdigest()


def _telling(arguments: tuple[str, ...]) -> list[str]:
    """Return the command-line options that are not known to be harmless."""
    return [
        argument
        for argument in arguments
        if argument.startswith("-") and not any(argument.startswith(known) for known in _HARMLESS)
    ]
