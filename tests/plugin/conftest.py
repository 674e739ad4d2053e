"""Projects for the tests of the plugin, in a folder of their own, run in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.desk import desk, functions, tests_only
from support.example import Example, Result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.fixture
def teams(folder: Path) -> Callable[..., Example]:
    return lambda *args: desk(folder, *args)


@pytest.fixture
def arms(folder: Path) -> Callable[..., Example]:
    return lambda *args: functions(folder, *args)


@pytest.fixture
def written(folder: Path) -> Callable[[str], Example]:
    return lambda body: tests_only(folder, body)


@pytest.fixture
def run(pytester: pytest.Pytester) -> Callable[..., Result]:
    """Run an example in this process."""
    return lambda example, *args, **env: example.run_inline(pytester, *args, **env)
