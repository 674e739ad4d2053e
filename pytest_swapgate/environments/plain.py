"""What a value or a function is, as JSON that means the same in another process."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
from collections.abc import Callable, Mapping, Set
from datetime import date
from enum import Enum
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from pydantic import BaseModel

_DEEPEST = 20


def plain_value(value: Any) -> Any:
    """Return a value as JSON that is the same in another process; of what has no such form, its type.

    Functions are told by their code, their defaults and what they are closed over, classes by their name.
    """
    return _Telling().value(value)


def function_parts(function: Callable[..., Any]) -> Any:
    """Return what a function is, as JSON: its code and bound values; of an object that is called, its attributes."""
    return _Telling().function(function)


def attributes(thing: object) -> dict[str, Any]:
    """Return the attributes of an object, those in slots as well."""
    slots = (name for cls in type(thing).__mro__ for name in _names(getattr(cls, "__slots__", ())))
    held = {name: getattr(thing, name) for name in slots if hasattr(thing, name)}
    return {**held, **getattr(thing, "__dict__", {})}


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


class _Telling:
    """One description: what it has met already is told once, so that loops end."""

    def __init__(self) -> None:
        self._told: dict[int, Any] = {}
        self._alive: list[Any] = []  # else another object could get the number of one that is gone
        self._depth = 0

    def value(self, value: Any) -> Any:
        if value is None or isinstance(value, str | int) or value is ...:
            return value if value is not ... else "..."
        if isinstance(value, float | complex):
            return repr(value)
        if id(value) in self._told:
            return self._told[id(value)]
        if self._depth > _DEEPEST:
            return "deeper"
        self._alive.append(value)
        self._told[id(value)] = "again"
        self._depth += 1
        self._told[id(value)] = told = self._composed(value)
        self._depth -= 1
        return told

    def _composed(self, value: Any) -> Any:
        if isinstance(value, BaseModel):
            return [type(value).__qualname__, self.value(value.model_dump())]
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}
            return [type(value).__qualname__, self.value(fields)]
        if isinstance(value, Mapping):
            return sorted(([self.value(k), self.value(v)] for k, v in value.items()), key=json.dumps)
        if isinstance(value, Set):
            return sorted((self.value(item) for item in value), key=json.dumps)
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        if isinstance(value, Enum | PurePath | bytes | bytearray | date):
            return repr(value)
        if isinstance(value, CodeType):
            return [value.co_code.hex(), self.value(value.co_names), self.value(value.co_consts)]
        if isinstance(value, FunctionType | MethodType | functools.partial):
            return self.function(value)
        if isinstance(value, type):
            return f"{value.__module__}.{value.__qualname__}"
        return type(value).__qualname__

    def function(self, function: Any) -> Any:
        if isinstance(function, functools.partial):
            bound = [self.value(function.args), self.value(function.keywords)]
            return ["partial", self.function(function.func), *bound]
        raw = getattr(function, "__func__", function)
        code = getattr(raw, "__code__", None)
        told = [
            str(getattr(raw, "__module__", "")),
            str(getattr(raw, "__qualname__", type(function).__qualname__)),
        ]
        owner = getattr(function, "__self__", None)
        if owner is None and code is None:
            owner = function  # a class, or an object that is called
        if owner is not None and not isinstance(owner, ModuleType):
            told.append(self._owner(owner))
        if inspect.iscode(code):
            inside = [_in_cell(cell) for cell in raw.__closure__ or ()]
            told += [self.value(code), self.value([raw.__defaults__, raw.__kwdefaults__, inside])]
        return told

    def _owner(self, owner: Any) -> Any:
        if not isinstance(owner, type):
            return [[name, self.value(value)] for name, value in sorted(attributes(owner).items())]
        # What Python itself puts into a class may differ from process to process.
        own = {name: value for name, value in vars(owner).items() if not name.startswith("__")}
        return [[name, self.value(value)] for name, value in sorted(own.items())]


def _in_cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "empty"
