"""Ending a stopped process soon: Python's search for garbage in what litellm has loaded takes it over a second."""

from __future__ import annotations

import gc
import sys
from pathlib import Path


def hurry(*, worker: bool) -> None:
    """Leave garbage alone in a process that is about to end; any other, such as a notebook, goes on as it is."""
    if "litellm" in sys.modules and (worker or _is_pytests_own()):
        gc.freeze()


def _is_pytests_own() -> bool:
    main = sys.modules.get("__main__")
    name = Path(getattr(main, "__file__", None) or "").name
    spec = getattr(main, "__spec__", None)
    return name in ("pytest", "py.test", "pytest.exe") or getattr(spec, "name", "") == "pytest.__main__"
