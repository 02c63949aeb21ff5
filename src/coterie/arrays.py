"""What callers may hand over or get back in a kind of their own: types that only Narwhals or Config can check."""

from __future__ import annotations

from typing import Any, TypeAlias

AnyTable: TypeAlias = Any
"""a frame of any kind that Narwhals takes, the path of a file, or "-" """
AnyFrame: TypeAlias = Any
"""the caller's own kind of frame"""
AnySetting: TypeAlias = Any
"""the value of a field of Config, as its validators take it"""
AnyFlags: TypeAlias = Any
"""an array of truth values of any library, or a mapping or frame of such"""
