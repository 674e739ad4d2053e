"""Serve a GGUF model on loopback with llama.cpp's own OpenAI-compatible server, from the xllamacpp wheel.

    python serve.py MODEL.gguf    # prints the address; ends when its standard input is closed

One slot, one thread, no polling: a seeded answer is reproducible only when no other request shares the batch, and two
polling threads collapse on busy cores.
"""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(weights):
    """Serve ``weights`` in a process of its own and give its address; the process never outlives this one."""
    command = [sys.executable, __file__, str(weights)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip()
            if not address:
                raise RuntimeError(f"{Path(weights).name} could not be served; what the server said is above")
            yield address
        finally:
            server.kill()


def main(weights):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.n_parallel = 1
    params.n_ctx = 2048
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads, cpu.poll = 1, 0
    params.verbosity = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
