"""Uploads, written to disk as they arrive: to a private folder, under a generated name, up to a limit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, NamedTuple

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from coterie.web.project import clean_name
from coterie.web.security import UNLIMITED
from coterie.web.settings import MEGABYTE

FIELD_LIMIT = 64 * 1024
"""bytes of all other fields of such a form"""


class Upload(NamedTuple):
    """The content of a form."""

    path: Path | None
    """the file, under a generated name; None if no file was chosen"""
    name: str
    """the sender's name for it, sanitized for display; never used as a path"""
    fields: dict[str, str]


class _Parts:
    """Handles the parts of a multipart body as they arrive: the first file goes to disk, short fields into memory."""

    def __init__(self, target: Path, *, field: str, limit: int) -> None:
        self.target, self.field, self.limit = target, field, limit
        self.name = ""
        self.size = 0
        self.ended = False
        self.fields: dict[str, bytes] = {}
        self.file: BinaryIO | None = None
        self._header = self._value = b""
        self._into = ""
        self._filled = 0

    def callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._add("_header", data[start:end]),
            "on_header_value": lambda data, start, end: self._add("_value", data[start:end]),
            "on_header_end": self._header_end,
            "on_end": self._end,
            "on_part_data": lambda data, start, end: self._data(data[start:end]),
        }

    def _end(self) -> None:
        self.ended = True

    def _begin(self) -> None:
        self._header = self._value = b""
        self._into = ""

    def _count(self, data: bytes) -> None:
        self._filled += len(data)
        if self._filled > FIELD_LIMIT:
            raise HTTPException(413, "The form's fields are too long. Nothing was saved.")

    def _add(self, name: str, data: bytes) -> None:
        self._count(data)
        setattr(self, name, getattr(self, name) + data)

    def _header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            _, options = parse_options_header(self._value)
            self._into = options.get(b"name", b"").decode("utf-8", "replace")
            if self._into == self.field and self.file is None and options.get(b"filename"):
                self.name = options[b"filename"].decode("utf-8", "replace")
                # Private and new, so that nobody can have put a link in its place.
                handle = os.open(self.target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
                self.file = os.fdopen(handle, "wb")
        self._header = self._value = b""

    def _data(self, data: bytes) -> None:
        if self._into == self.field and self.file is not None:
            self.size += len(data)
            if self.size > self.limit:
                raise _too_large(self.limit)
            self.file.write(data)
        elif self._into and self._into != self.field:
            self._count(data)
            self.fields[self._into] = self.fields.get(self._into, b"") + data


def _too_large(limit: int) -> HTTPException:
    text = f"The file has more than {limit // MEGABYTE:,} MB, which is the limit for uploads. "
    return HTTPException(413, f"{text}Open it by its path instead, or start with a higher --upload-limit.")


async def receive_upload(request: Request, target: Path, *, field: str, limit: int) -> Upload:
    """Read a multipart form, streaming its file to disk. If anything fails, no file is left.

    Args:
        request: The request with the form.
        target: The path for the file; it must not exist yet.
        field: The name of the file's field.
        limit: The maximum number of bytes of the file.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise HTTPException(415, "Files are sent as a form of the kind multipart/form-data.")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit + FIELD_LIMIT + 8192:
        raise _too_large(limit)
    request.scope[UNLIMITED] = True  # counted here
    parts = _Parts(target, field=field, limit=limit)
    parser = MultipartParser(options[b"boundary"], parts.callbacks())  # type: ignore[arg-type]
    whole = False
    try:
        async for chunk in request.stream():
            parser.write(chunk)
        parser.finalize()
        if not parts.ended:
            raise ClientDisconnect
        whole = True
    except (FormParserError, ClientDisconnect):
        raise HTTPException(400, "The upload was interrupted. Send the file again.") from None
    except OSError:
        text = "The file cannot be stored: no space is left for projects. Free some, or choose another folder with "
        raise HTTPException(507, f"{text}--project; or open the file by its path.") from None
    finally:
        if parts.file is not None:
            parts.file.close()
            if not whole:
                target.unlink(missing_ok=True)
    fields = {name: value.decode("utf-8", "replace") for name, value in parts.fields.items()}
    return Upload(target if parts.file is not None else None, clean_name(parts.name), fields)
