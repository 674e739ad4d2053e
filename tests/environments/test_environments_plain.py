"""What a function or a value is, told alike in every process."""

from __future__ import annotations

import enum
import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from pytest_swapgate.environments.plain import function_parts, plain_value


@dataclass
class Settings:
    model: str = "a"


class Callable:
    __slots__ = ("share",)

    def __init__(self, share):
        self.share = share

    def __call__(self, task, seed):
        return self.share

    def method(self, task, seed):
        return self.share


def arm(share, inner=None):
    """Return a function that keeps what it is given two functions deep."""

    def deep(task):
        return share, inner

    return lambda task, seed, *, most=3: deep(task)


def first(task, seed):
    return [abs(n) for n in range(3)]


def second(task, seed):
    return [abs(n) for n in range(4)]


def third(task, seed):
    return [int(n) for n in range(3)]


def forth(task, seed, *, most=3):
    return most


DIFFERENT = [
    (arm(0.9), arm(0.3)),
    (arm("a", Settings()), arm("a", Settings("b"))),
    (arm({"a": [1]}), arm({"a": [2]})),
    (functools.partial(forth, most=3), functools.partial(forth, most=4)),
    (functools.partial(forth), forth),
    (Callable(1), Callable(2)),
    (Callable(1).method, Callable(2).method),
    (Callable, Settings),
    (len, print),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_a_function_is_bound_to_tells_it_from_others(one, other):
    assert function_parts(one) != function_parts(other)
    assert function_parts(one) == function_parts(one)
    json.dumps(function_parts(one))


def test_code_tells_functions_of_one_name_apart_also_inside_and_by_the_names_it_uses():
    told = [function_parts(function)[2:] for function in (first, second, third)]
    assert told[0] != told[1]
    assert told[0] != told[2]


def test_keyword_defaults_count():
    def made(value):
        def arm(task, seed, *, most=value):
            return most

        return arm

    assert function_parts(made(1)) != function_parts(made(2))


def test_loops_end():
    values = []
    values.append(values)

    def around(task, seed):
        return around, values

    assert plain_value(values) == ["again"]
    json.dumps(function_parts(around))
    deep = []
    for _ in range(10_000):
        deep = [deep]
    json.dumps(plain_value(deep))


def test_objects_are_known_by_their_type_alone():
    assert plain_value(object()) == plain_value(object()) == "object"
    assert plain_value(enum.Enum("Kind", "A B").A) == "<Kind.A: 1>"


PRINTED = """
import hashlib, json
from pytest_swapgate.environments.plain import function_parts

names = {"a", "b", "c", "d"}

def arm(task, seed, most={"x", "y", "z"}):
    return task in {"one", "two", "three", "four"} or (lambda: task in {"five", "six", "seven"})() or names_here

names_here = 1
print(hashlib.sha256(json.dumps(function_parts(lambda task, seed: (arm, names))).encode()).hexdigest())
print(hashlib.sha256(json.dumps(function_parts(arm)).encode()).hexdigest())
"""


def test_another_process_tells_the_same():
    told = {
        subprocess.run(
            [sys.executable, "-c", PRINTED],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1
    assert len(next(iter(told)).split()) == 2
