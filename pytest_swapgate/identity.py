"""What a user's function is, so that stored outcomes are read for it only while nothing around it has changed."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CellType
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
# Options that choose, order, run or print tests; any other option may change the system under test. The names are
# those of the parsed options: they hold for the command line, for addopts and for workers alike.
_HARMLESS = frozenset(
    """
    anyio_mode assertmode asyncio_debug asyncio_mode basetemp cacheclear cacheshow capture code_highlight
    collect_in_virtualenv collectonly color confcutdir continue_on_collection_errors cov_append cov_branch
    cov_context cov_fail_under cov_report cov_source debug deselect disable_plugin_autoload disable_warnings dist
    distload durations durations_min failedfirst fail_on_flaky file_or_dir fold_skipped force_reruns
    force_short_summary fulltrace help ignore ignore_glob importmode inifilename junitprefix keepduplicates keyword
    last_failed_no_failures lf loadgroup loadscopereorder looponfail markers markexpr max_suite_reruns max_warnings
    maxfail maxprocesses maxschedchunk maxworkerrestart newfirst no_cov no_header no_summary numprocesses only_rerun
    pastebin plugins px pyargs pythonwarnings quiet reportchars rerun_except rerun_exclude_path
    rerun_show_tracebacks reruns reruns_delay reruns_delay_backoff_factor reruns_mode rootdir rsyncdir rsyncignore
    runxfail session_timeout setuponly setupplan setupshow show_fixtures_per_test showcapture showfixtures
    showlocals stepwise stepwise_reset stepwise_skip strict strict_config strict_markers tbstyle testrunuid timeout
    timeout_disable_debugger_detection timeout_method trace traceconfig tx usepdb usepdb_cls verbose version
    xfail_tb xmlpath
    """.split()  # noqa: SIM905
)
_HARMLESS_PREFIXES = ("doctest", "hypothesis_", "log_", "logger_", "randomly_", "swapgate_")
# A user's own fixtures may build a candidate from these.
_TELLING = ("swapgate_model", "swapgate_replace")

# Code, and the kinds of files in which prompts, tools and settings are kept.
_SUFFIXES = frozenset(
    """
    .py .pyi .txt .md .rst .prompt .j2 .jinja .jinja2 .mustache .tmpl .tpl .yaml .yml .toml .ini .cfg .json .jsonl
    """.split()  # noqa: SIM905
)
_OUTSIDE = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})
_LARGE = 4_000_000
_OURS = Path(__file__).resolve().parent


def identity_of(role: str, function: Callable[..., Any], *, gate: str, nth: int, surroundings: str) -> str:
    """Return the SHA-256 of everything local that could change a function's outcomes.

    It covers the gate, which of its comparisons this is, the role, the function with its bound plain values, and its
    `surroundings` (or what a user names instead of them). Whatever is behind a network is not covered.
    """
    return _digest([gate, str(nth), role, *_function_parts(function), surroundings])


def surroundings(root: Path, options: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what every function of a project is surrounded by.

    The files of code, prompts and settings below the project's root and in the folders that it imports from, the
    installed distributions, the environment variables, and the options that are not known to be harmless. What
    happens to be imported already does not matter, so one test alone reads what the whole suite has stored.
    """
    folders = [root, *(folder for folder in _import_folders() if not folder.is_relative_to(root))]
    return _digest(
        [_tree(folder) for folder in folders] + [_installed(), _environment(), repr(_telling(options))]
    )


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
    if owner is None and code is None:
        owner = function  # an object that can be called
    if owner is not None:
        parts.append(repr(sorted((k, repr(_plain(v))) for k, v in getattr(owner, "__dict__", {}).items())))
    if code is not None:
        parts.append(code.co_code.hex())
        parts.append(repr(code.co_consts) if not any(map(inspect.iscode, code.co_consts)) else "nested")
        cells = zip(code.co_freevars, raw.__closure__ or (), strict=True)
        parts.append(repr([(name, _in_cell(cell)) for name, cell in cells]))
        parts.append(repr([repr(_plain(value)) for value in (raw.__defaults__ or ())]))
    return parts


def _in_cell(cell: CellType) -> str:
    try:
        return repr(_plain(cell.cell_contents))
    except ValueError:
        return "empty"


def _plain(value: Any) -> Any:
    """Return a value whose text means the same in another run; of anything else only its type."""
    if value is None or isinstance(value, str | int | float | bool | bytes):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return sorted((repr(_plain(k)), repr(_plain(v))) for k, v in value.items())
    if inspect.isfunction(value):
        return value.__qualname__
    return type(value).__qualname__


def _import_folders() -> list[Path]:
    """Return the folders of ``sys.path`` that hold neither the standard library nor installed packages."""
    installed = [
        Path(place).resolve() for place in {*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix}
    ]
    folders = {Path(entry).resolve() for entry in sys.path if entry and Path(entry).is_dir()}
    return sorted(
        folder
        for folder in folders
        if not _OUTSIDE.intersection(folder.parts)
        and folder != _OURS.parent  # a checkout of this package
        and not any(folder.is_relative_to(place) for place in installed)
    )


def _tree(root: Path) -> str:
    parts = []
    for path in _files(root):
        try:
            size = path.stat().st_size
            content = hashlib.sha256(path.read_bytes()).hexdigest() if size <= _LARGE else f"{size} bytes"
        except OSError:
            content = "unreadable"
        parts.append(f"{path.relative_to(root).as_posix()}={content}")
    return _digest(sorted(parts))


def _files(root: Path) -> Iterator[Path]:
    """Iterate over a project's own files: nothing hidden, no environment, no installed package, nothing of ours."""
    for folder, below, names in os.walk(root):
        below[:] = [
            name
            for name in below
            if not name.startswith(".")
            and name not in _OUTSIDE
            and Path(folder, name) != _OURS
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        ]
        for name in names:
            suffix = os.path.splitext(name)[1].lower()
            if name.startswith(".env") or (suffix in _SUFFIXES and not name.startswith(".")):
                yield Path(folder, name)


def _installed() -> str:
    """Return names and versions of the installed distributions, from the names of their folders."""
    names: set[str] = set()
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        try:
            names.update(name for name in os.listdir(place) if name.endswith(".dist-info"))
        except OSError:
            continue
    return _digest([sys.version, *sorted(names)])


def _environment() -> str:
    return _digest(sorted(f"{name}={value}" for name, value in os.environ.items() if name not in _VOLATILE))


def _telling(options: Mapping[str, Any]) -> Any:
    """Return the options that are not known to be harmless."""
    return _plain(
        {
            name: value
            for name, value in options.items()
            if name in _TELLING or not (name in _HARMLESS or name.startswith(_HARMLESS_PREFIXES))
        }
    )


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
