"""Importing litellm: on the first real call only, off the network, and silent."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import Any

_HARMLESS: tuple[tuple[str, type[Warning]], ...] = (
    (".*`ReadOnly` qualifier.*", UserWarning),
    (".*conflict with protected namespace.*", UserWarning),
    (".*Accessing the.*attribute on the instance is deprecated.*", DeprecationWarning),
    ("coroutine '.*completion' was never awaited", RuntimeWarning),
)
"""What litellm itself silences when it is imported; and the last, what it forgets when a call is cancelled."""


def load_litellm() -> Any:
    """Import litellm without letting it go to the network, or talk."""
    # Again at each call: pytest takes back the filters that an import in an earlier test has set, and litellm
    # imports its providers late; where warnings are errors, a call would fail.
    newest = getattr(warnings.filters[0][1], "pattern", None) if warnings.filters else None
    if newest != _HARMLESS[-1][0]:
        for message, category in _HARMLESS:
            warnings.filterwarnings("ignore", message=message, category=category)
    if "litellm" not in sys.modules:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
        if "LITELLM_LOG" not in os.environ:
            # Each comparison has an event loop of its own; litellm would remark on every one.
            logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    import litellm

    litellm.suppress_debug_info = True
    return litellm
