"""An OpenAI-compatible server on loopback that keeps connections open, fails at a given rate, and keeps the books.

The answer depends on the request alone, so that a run with faults and one without must come to the same episodes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import socket
import struct
import threading
from collections import Counter
from contextlib import contextmanager, suppress

PROMPT, ANSWER = 11, 7
FAULTS = (
    "429", "429 retry-after", "500", "503", "reset", "cut body", "cut chunks", "not json", "empty choices",
    "malformed tool calls", "unasked tool call",
)  # fmt: skip


class FaultServer:
    """Counts what reaches it; ``billed`` are the answers that can be read, with their tokens."""

    def __init__(self, rate=0.0, *, seed=0, delay=0.0, faults=FAULTS, slow=0):
        self.rate = rate
        self.delay = delay
        self.faults = faults
        self.slow = slow
        self.url = ""
        self.requests = 0
        self.billed = 0
        self.injected = Counter()
        self.answers = Counter()
        self.in_flight = 0
        self.most_in_flight = 0
        self.open_connections = 0
        self.most_allowed = None
        self._random = random.Random(seed)

    @property
    def tokens(self):
        return self.billed * (PROMPT + ANSWER)

    def _fault(self):
        if self.slow:
            self.slow -= 1
            return "slow"
        if self.most_allowed is not None and self.in_flight > self.most_allowed:
            return "429"
        return self._random.choice(self.faults) if self._random.random() < self.rate else ""

    async def serve(self, reader, writer):
        self.open_connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = next(
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                )
                request = json.loads(await reader.readexactly(size))
                self.requests += 1
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                try:
                    stay = await self._answer(request, writer)
                finally:
                    self.in_flight -= 1
                if not stay:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open_connections -= 1
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, request, writer):
        fault = self._fault()
        self.injected[fault] += 1
        if self.delay:
            await asyncio.sleep(self.delay)
        if fault == "slow":
            await asyncio.sleep(60)
            return False
        if fault == "reset":
            writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            writer.transport.abort()
            return False
        if fault[:3] in ("429", "500", "503"):
            after = "retry-after: 0.01\r\n" if "retry-after" in fault else ""
            body = json.dumps({"error": {"message": "no", "type": "error", "code": None}})
            return await _write(writer, f"{fault[:3]} no", body, after)
        if fault == "not json":
            return await _write(writer, "200 OK", "<html>Bad gateway</html>")
        body = json.dumps(self._body(request, fault))
        if fault == "cut body":
            head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            writer.write((head + body[: len(body) // 2]).encode())
            await writer.drain()
            return False
        if fault == "cut chunks":
            head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
            part = body[: len(body) // 2]
            writer.write(f"{head}{len(part):x}\r\n{part}\r\n".encode())
            await writer.drain()
            return False
        self.billed += 1
        return await _write(writer, "200 OK", body)

    def _body(self, request, fault):
        text = answer(request["model"], request["messages"][-1]["content"])
        message = {"role": "assistant", "content": text}
        if "tool call" in fault:
            arguments = '{"half": ' if "malformed" in fault else "{}"
            call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        if not fault:
            self.answers[request["model"], request["messages"][-1]["content"]] += 1
        return {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": request["model"],
            "choices": []
            if fault == "empty choices"
            else [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": PROMPT,
                "completion_tokens": ANSWER,
                "total_tokens": PROMPT + ANSWER,
            },
        }


def answer(model, prompt):
    """Say yes to nine of ten prompts as ``good``, to six of ten as ``bad``."""
    share = {"good": 0.9, "bad": 0.6}[model]
    draw = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:4], "big") / 2**32
    return "yes" if draw < share else "no"


async def _write(writer, status, body, headers=""):
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n{headers}\r\n"
    )
    writer.write((head + body).encode())
    await writer.drain()
    return True


@contextmanager
def serving(rate=0.0, **more):
    """Run a fault server in a thread of its own, on a free port."""
    fake = FaultServer(rate, **more)
    ready = threading.Event()
    stop: list = []

    async def run():
        connections = set()

        async def one(reader, writer):
            connections.add(task := asyncio.current_task())
            # Swallowed: until Python 3.12 the stream itself complains about a cancelled task.
            with suppress(asyncio.CancelledError):
                await fake.serve(reader, writer)
            connections.discard(task)

        server = await asyncio.start_server(one, "127.0.0.1", 0)
        fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        over = asyncio.Event()
        stop.append((asyncio.get_running_loop(), over))
        ready.set()
        await over.wait()
        server.close()
        for task in list(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    ready.wait()
    try:
        yield fake
    finally:
        loop, over = stop[0]
        loop.call_soon_threadsafe(over.set)
        thread.join()
