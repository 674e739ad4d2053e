"""What teams play.

`Environment` is the protocol of a user's own; `kitchen` is the built-in one;
`AdaptedEnvironment` puts a team of another framework behind the same protocol.
"""

from __future__ import annotations

from pytest_swapgate.environments.adapter import AdaptedEnvironment, TeamAdapter
from pytest_swapgate.environments.base import Environment, environment_digest, role_prompt

__all__ = ["AdaptedEnvironment", "Environment", "TeamAdapter", "environment_digest", "role_prompt"]
