"""A small OpenAI-compatible server on loopback that fails on demand and counts what reaches it."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One scripted answer of the server.

    ``fault`` is one of: ``reset`` (connection reset), ``cut`` (body shorter than announced), ``slow`` (no answer),
    ``drip`` (a body that never ends, byte by byte).
    """

    status: int = 200
    body: str | bytes | Mapping[str, Any] = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""


def completion(
    text: str | None = "pong",
    *,
    finish: str = "stop",
    prompt_tokens: int = 11,
    completion_tokens: int = 7,
    choices: bool = True,
) -> Reply:
    """Return a chat completion as OpenAI would write it."""
    message = {"role": "assistant", "content": text}
    return Reply(
        body={
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "served-model",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}] if choices else [],
            "usage": {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "total_tokens": prompt_tokens + completion_tokens,
            },
        }
    )


def refusal(status: int, message: str = "no", *, code: str = "", **headers: str) -> Reply:
    """Return an error as OpenAI would write it; header names with underscores."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": code or None}}
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class FakeServer:
    """Answers from a script, one reply a request; the last one is repeated."""

    def __init__(self) -> None:
        self.script: deque[Reply] = deque()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self.url = ""

    def play(self, *replies: Reply) -> None:
        """Forget what was, and answer with these from now on."""
        with self.lock:
            self.script = deque(replies)
            self.requests.clear()
            self.headers.clear()

    @property
    def count(self) -> int:
        """Requests that arrived since the script began."""
        with self.lock:
            return len(self.requests)

    def next(self, request: dict[str, Any], headers: dict[str, str]) -> Reply:
        """Count a request and return its answer."""
        with self.lock:
            self.requests.append(request)
            self.headers.append(headers)
            return self.script.popleft() if len(self.script) > 1 else self.script[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: FakeServer

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length", 0))
        request = json.loads(self.rfile.read(size) or b"{}")
        reply = self.fake.next(request, {k.lower(): v for k, v in self.headers.items()})
        self.close_connection = True
        if reply.fault == "reset":
            # Linger 0: closing sends RST instead of FIN.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return
        if reply.fault == "slow":
            self.fake.closing.wait(30)
            return
        if reply.fault == "drip":
            self._drip()
            return
        body = reply.body if isinstance(reply.body, str | bytes) else json.dumps(reply.body)
        data = body.encode() if isinstance(body, str) else body
        self.send_response(reply.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("connection", "close")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if reply.fault == "cut" else data)

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "100000")
        self.end_headers()
        for _ in range(600):
            try:
                self.wfile.write(b" ")
                self.wfile.flush()
            except OSError:
                return
            if self.fake.closing.wait(0.05):
                return


@contextmanager
def serve() -> Iterator[FakeServer]:
    """Run a fake server on a free port of loopback."""
    fake = FakeServer()
    handler = type("Handler", (_Handler,), {"fake": fake})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
