"""Cassettes through the plugin: recorded with a key, replayed without key and network, reports equal to the byte."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.example import Example

KEY = "planted-secret-0123456789"

CONFTEST = """
import os, socket
import pytest
from pytest_swapgate import LiteLLMModel

if os.environ.get("NO_NETWORK"):
    def refuse(*args, **kwargs):
        raise OSError("the network is blocked")
    socket.socket.connect = socket.socket.connect_ex = refuse


@pytest.fixture(scope="session")
def swapgate_model():
    return LiteLLMModel("openai/desk", options={"api_base": os.environ["DESK_URL"]}, price=(1e-6, 2e-6))
"""

GATE = """
import pytest

@pytest.mark.swap_penalty(score=0.3, cost=3.0, score_sd=0.05, cost_sd=0.2)
def test_gate(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.naive())
"""


class _Desk(BaseHTTPRequestHandler):
    """Answers with the agreed word, or with one that its seed draws; asks for the key."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.calls += 1  # type: ignore[attr-defined]
        allowed = self.headers["authorization"] == f"Bearer {KEY}"
        word = asked["messages"][-1]["content"].partition("The word is ")[2].partition(".")[0]
        answer = word or f"word-{asked.get('seed', 0) % 1000}"
        usage = {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22}
        message = {"role": "assistant", "content": answer}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        body = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "desk",
            "choices": [choice],
            "usage": usage,
        }
        text = json.dumps(body if allowed else {"error": {"message": "no", "type": "auth"}}).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Desk)
    server.calls = 0  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _project(teams: Callable[..., Example]) -> Example:
    example = teams().with_test(GATE)
    return example.with_files({**example.files, "conftest.py": example.files["conftest.py"] + CONFTEST})


def _verdict(text: str) -> str:
    start = text.index("= swapgate =")
    lines = text[start:].splitlines()[1:]
    return "\n".join(line for line in lines if line.startswith(("swap_penalty", "  ")))


def test_a_replay_needs_no_key_and_no_network_and_reports_the_same(
    teams: Callable[..., Example], provider: ThreadingHTTPServer, folder: Path
) -> None:
    example = _project(teams)
    url = f"http://127.0.0.1:{provider.server_port}/v1"
    options = ("--swapgate-teams", "6", "--swapgate-formation", "2", "--swapgate-trials", "3")
    recorded = example.run_pytest(*options, "--swapgate-cassette", "once", DESK_URL=url, OPENAI_API_KEY=KEY)
    recorded.assert_ends(0, passed=1)
    asked = provider.calls  # type: ignore[attr-defined]
    assert asked > 0
    replayed = example.run_pytest(
        *options,
        *("--swapgate-cassette", "none", "--swapgate-evidence", "other.db"),
        DESK_URL=url,
        NO_NETWORK="1",
    )
    replayed.assert_ends(0, passed=1)
    assert provider.calls == asked  # type: ignore[attr-defined]
    assert _verdict(replayed.text) == _verdict(recorded.text) != ""
    assert "USD" in _verdict(recorded.text)
    leaks = [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert not leaks


def test_a_missing_recording_names_the_request(
    teams: Callable[..., Example], provider: ThreadingHTTPServer
) -> None:
    example = _project(teams)
    result = example.run_pytest(
        *("--swapgate-teams", "6", "--swapgate-formation", "1", "--swapgate-trials", "2"),
        *("--swapgate-cassette", "none"),
        DESK_URL=f"http://127.0.0.1:{provider.server_port}/v1",
    )
    assert result.exit_code == 1
    result.assert_says("openai/desk")
    assert provider.calls == 0  # type: ignore[attr-defined]
    assert "Traceback" not in result.text


def test_an_answer_that_was_edited_by_hand_is_an_error_and_no_verdict(
    teams: Callable[..., Example], provider: ThreadingHTTPServer, folder: Path
) -> None:
    example = _project(teams)
    url = f"http://127.0.0.1:{provider.server_port}/v1"
    options = ("--swapgate-teams", "6", "--swapgate-formation", "1", "--swapgate-trials", "2")
    example.run_pytest(*options, "--swapgate-cassette", "once", DESK_URL=url, OPENAI_API_KEY=KEY)
    (cassette,) = folder.rglob("swapgate-cassette.json")
    text = cassette.read_text(encoding="utf-8")
    cassette.write_text(text.replace('"text": "', '"text": "not ', 1), encoding="utf-8")
    result = example.run_pytest(
        *options, *("--swapgate-cassette", "none", "--swapgate-evidence", "other.db"), DESK_URL=url
    )
    assert result.exit_code == 1
    assert "1 error" in result.text
    assert "Traceback" not in result.text
    result.assert_says("was edited after it was recorded (its checksum does not match)")
    result.assert_says("swapgate-cassette.json, line ")
