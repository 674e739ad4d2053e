"""Fixtures of the existing suite."""

import random

import pytest


@pytest.fixture
def rng():
    return random.Random(0)
