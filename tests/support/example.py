"""The one builder of example projects: a set of files, run by pytest, asserted by what a user sees.

An `Example` is never changed: an edit returns another one in the same folder. A run writes the files of the example
that it is called on and leaves whatever earlier runs have left behind (`.swapgate/`, caches), as on a user's disk.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import pytest

# An inner run in this process drops what it was first to import, and numpy and scipy cannot be imported twice.
import scipy.special  # noqa: F401

import pytest_swapgate.environments.kitchen
import pytest_swapgate.gate.judge
import pytest_swapgate.gate.paired_runner
import pytest_swapgate.plans
import pytest_swapgate.report.study
import pytest_swapgate.summary
import pytest_swapgate.workers  # noqa: F401

# What an inner run is isolated from: the options, keys and settings of whoever runs the tests.
FOREIGN = re.compile(r"PYTEST_|SWAPGATE_|COV_|TOX_|.*_API_KEY$")
OUTCOMES = ("passed", "failed", "errors", "skipped", "xfailed", "xpassed", "deselected", "rerun")
INI = """
[pytest]
addopts = -p no:randomly --strict-markers
"""


@dataclass(frozen=True)
class Result:
    """What a run of pytest showed.

    Attributes
    ----------
    exit_code, text
        Exit code, and everything printed, standard output first.
    """

    exit_code: int
    text: str

    @property
    def lines(self) -> list[str]:
        """The printed lines, without the space around them."""
        return [line.strip() for line in self.text.splitlines()]

    @property
    def outcomes(self) -> dict[str, int]:
        """Word -> count, from pytest's last line; only what happened."""
        for line in reversed(self.lines):
            found = {
                word: int(n)
                for n, word in re.findall(r"(\d+) ([a-z]+)", line)
                if not line.startswith("swapgate")
            }
            if found and re.search(r" in [\d.]+s", line):
                singular = {"error": "errors", "warnings": "warning"}
                return {singular.get(word, word): n for word, n in found.items()}
        return {}

    def assert_ends(self, exit_code: int, **outcomes: int) -> Self:
        """Check the exit code and how many tests passed, failed, ... (a word that is not named must not occur)."""
        found = {word: n for word, n in self.outcomes.items() if word in OUTCOMES}
        assert (self.exit_code, found) == (exit_code, outcomes), self.text
        return self

    def assert_says(self, *parts: str) -> Self:
        """Check that each text stands somewhere, whatever its line breaks."""
        flat = " ".join(self.text.split())
        for part in parts:
            assert " ".join(part.split()) in flat, f"missing: {part}\n\n{self.text}"
        return self

    def assert_line(self, *patterns: str) -> Self:
        """Check that for each regular expression a whole line matches."""
        for pattern in patterns:
            assert any(re.fullmatch(pattern, line) for line in self.lines), (
                f"no line: {pattern}\n\n{self.text}"
            )
        return self

    def assert_silent_about(self, *parts: str) -> Self:
        """Check that none of the texts is printed."""
        for part in parts:
            assert part not in self.text, f"unwanted: {part}\n\n{self.text}"
        return self

    def assert_no_traceback_of_ours(self) -> Self:
        """Check that no frame of this package is shown to the user."""
        return self.assert_silent_about(
            "Traceback (most recent call last)",
            "pytest_swapgate/",
            "INTERNALERROR",
            "another exception occurred",
            "direct cause",
        )


@dataclass(frozen=True)
class Example:
    """A project on disk.

    Attributes
    ----------
    folder
        Where it lives.
    files
        Path below the folder -> text.
    """

    folder: Path
    files: Mapping[str, str] = field(default_factory=dict)

    def with_files(self, files: Mapping[str, str]) -> Example:
        """Return the project with files added or exchanged."""
        return replace(self, files={**self.files, **files})

    def with_test(self, body: str, *, name: str = "test_gate.py") -> Example:
        """Return the project with a test module that begins with ``import pytest``."""
        return self.with_files({name: f"import pytest\n\n{body.strip()}\n"})

    def with_ini(self, *lines: str) -> Example:
        """Return the project with further lines in its ini file."""
        return self.with_files({"pytest.ini": "\n".join([self.files["pytest.ini"].rstrip(), *lines, ""])})

    def edited(self, name: str, old: str, new: str) -> Example:
        """Return the project with one text replaced; it must be there."""
        assert old in self.files[name], f"{old!r} is not in {name}"
        return self.with_files({name: self.files[name].replace(old, new)})

    @property
    def evidence(self) -> Path:
        """Where a run keeps its episodes by default."""
        return self.folder / ".swapgate" / "evidence.db"

    def write(self) -> None:
        """Write the files; what an earlier example had and this one has not is removed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in [*self.folder.rglob("*.py"), *self.folder.rglob("*.ini"), *self.folder.rglob("*.toml")]:
            if path.relative_to(self.folder).as_posix() not in self.files:
                path.unlink()
        for name, text in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
                # A changed file of the same size and second would be taken from the byte code of the old one.
                shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)

    def run_pytest(self, *args: str, plugins: str = "pytest_swapgate.plugin", **env: str) -> Result:
        """Run pytest in a process of its own.

        Parameters
        ----------
        plugins
            Names of the plugins to load; the other installed ones are not, for speed.
        **env
            Environment variables.
        """
        self.write()
        loaded = [f"-p{name}" for name in plugins.split()]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *loaded, *args],
            cwd=self.folder,
            env={**_clean(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **env},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Result(done.returncode, done.stdout + done.stderr)

    def run_on(self, terminal: int, *args: str) -> int:
        """Run pytest in a process of its own whose standard error is an open terminal; return the exit code."""
        self.write()
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-ppytest_swapgate.plugin", *args],
            cwd=self.folder,
            env={**_clean(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            stdout=subprocess.DEVNULL,
            stderr=terminal,
            timeout=300,
            check=False,
        )
        return done.returncode

    def run_inline(
        self, pytester: pytest.Pytester, *args: str, plugins: str | None = None, **env: str
    ) -> Result:
        """Run pytest in this process: faster, and as true for all but the process itself (its workers are real).

        Parameters
        ----------
        plugins
            As of `run_pytest`; None loads every installed plugin but hypothesis, which each run would import anew.
        **env
            Environment variables.
        """
        self.write()
        # pytester's own folder would become the root; pytest-asyncio warns without its option.
        ours = [f"--rootdir={self.folder}"]
        if plugins is None:
            ours += ["-pno:hypothesispytest", "-oasyncio_default_fixture_loop_scope=function"]
        else:
            ours += [f"-p{name}" for name in plugins.split()]
            env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **env}
        with _environment({**_clean(), **env}), pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            if plugins is None or "xdist" not in plugins:  # workers take their path from here
                patch.setattr(sys, "path", [entry for entry in sys.path if not _ours(entry)])
            result = pytester.runpytest_inprocess(*ours, *args)
        return Result(int(result.ret), "\n".join([*result.outlines, *result.errlines]))


def _ours(entry: str) -> bool:
    """Whether an entry of the import path belongs to this repository: no example may depend on it."""
    return Path(entry).resolve().is_relative_to(Path(__file__).parents[2]) and "site-packages" not in entry


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
