"""Output that nobody takes: a reader that went away ends a command quietly, a full disk with one line."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_samples import decide, evidence

from pytest_swapgate.cli import main
from pytest_swapgate.evidence import EvidenceStore

COMMANDS = {
    "plan": "plan --tolerance 0.1 --discordance 0.3",
    "plan json": "plan --tolerance 0.1 --sd 0.1 --json",
    "report": "report {file}",
    "combine": "combine {folder}/all.db {file}",
    "list": "evidence list {file}",
    "show an episode": "evidence show {file} 01",
    "show a gate": "evidence show {file} test_gate",
    "export": "evidence export {file} --format csv --out {folder}/e.csv",
    "check": "evidence check {file}",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = evidence(tmp_path / "evidence.db", 1, 2)
    with EvidenceStore.open(path) as store:
        decide(store, "r1", "test_x.py::test_gate", "pass")
    return path


def _arguments(command: str, file: Path) -> list[str]:
    return command.format(file=file, folder=file.parent).split()


def _buffered(descriptor: int) -> io.TextIOWrapper:
    """Return a stream that meets its reader when it is flushed."""
    return open(descriptor, "w", encoding="utf-8")


def _unbuffered(descriptor: int) -> io.TextIOWrapper:
    """Return a stream that meets its reader at every print."""
    return io.TextIOWrapper(open(descriptor, "wb", buffering=0), encoding="utf-8", write_through=True)


@pytest.mark.parametrize("stream", [_buffered, _unbuffered])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_reader_that_went_away_ends_every_command_quietly(
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    command: str,
    stream: Callable[[int], io.TextIOWrapper],
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with stream(writer) as out:  # closing it flushes once more, as Python does at its end
        monkeypatch.setattr(sys, "stdout", out)
        assert main(_arguments(command, file)) == 1
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("arguments", [["--help"], ["report", "{file}"]], ids=" ".join)
def test_the_end_of_python_is_quiet_too(file: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "pytest_swapgate.cli", *(text.format(file=file) for text in arguments)],
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_reader_of_errors_that_went_away_is_no_traceback(
    file: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with _unbuffered(writer) as error:
        monkeypatch.setattr(sys, "stderr", error)
        assert main(["report", f"{file}.missing"]) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_one_line_and_3(
    file: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with open("/dev/full", "w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["report", str(file)]) == 3
    said = capfd.readouterr().err
    assert said.startswith("swapgate: ")
    assert said.count("\n") == 1


def test_no_output_at_all_is_no_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)  # as under `swapgate ... >&-`
    assert main(["report", str(file)]) == 0
