"""``python -m pytest_swapgate.cli``."""

from __future__ import annotations

from pytest_swapgate.cli.main import main

raise SystemExit(main())
