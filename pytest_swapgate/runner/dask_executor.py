"""Dask `distributed` as the executor: a cluster's workers play the episodes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from pytest_swapgate.runner.errors import ArmError
from pytest_swapgate.teams.episode import FailureClass


@contextmanager
def dask_executor(address: str, *, timeout: float = 30.0) -> Iterator[Executor]:
    """Connect to a Dask scheduler; what comes out goes into `Stage.executor`.

    Parameters
    ----------
    address
        Of the scheduler, such as ``tcp://10.0.0.1:8786``.
    timeout
        Seconds to wait for it.

    Raises
    ------
    ArmError
        When the package ``distributed`` is missing, or nobody answers at the address.
    """
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise ArmError(
            "a Dask cluster needs the package distributed: pip install 'pytest-swapgate[dask]'",
            failure=FailureClass.CONFIGURATION,
        ) from error
    try:
        client = distributed.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ArmError(
            f"no Dask scheduler answers at {address}: {str(error).splitlines()[0] if str(error) else error!r}",
            failure=FailureClass.CONFIGURATION,
        ) from error
    try:
        # pure=False: the same episode played again, for it was lost, is another one.
        yield client.get_executor(pure=False)
    finally:
        client.close()
