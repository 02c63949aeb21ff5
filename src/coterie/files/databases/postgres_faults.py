"""Explain PostgreSQL errors in our own words: its messages quote cells, query literals and parts of the address."""

from __future__ import annotations

from coterie.errors import DataError
from coterie.files.databases.place import Place

# SQLSTATE, or its first two characters → message and hint.
_STATES = {
    "42P01": ("refers to a table that does not exist", "Check the query."),
    "42703": ("refers to a column that does not exist", "Check the query; text belongs in single quotes."),
    "42601": ("is not valid SQL", "Try it in psql, which shows the place."),
    "42501": ("may not be used by this user", "Ask for permission."),
    "42P07": ("came up meanwhile", "Choose another name, or overwrite it with force=True."),
    "25006": ("would write, but is run read-only", "Give a query that only selects."),
    "2BP01": ("cannot be replaced: views or keys depend on it", "Choose another name, or drop these first."),
    "3F000": ("has a schema that does not exist", "Create it first."),
    "57014": ("was cancelled by the server", "Its statement_timeout may be too short."),
    "57P01": ("was ended by the server, which is shutting down", "Try again later."),
    "53100": ("does not fit: the server's disk is full", "Free some space and try again."),
    "55P03": ("is locked by another session", "Try again when that has finished."),
    "40P01": ("is locked by another session", "Try again when that has finished."),
    "40001": ("changed while it was read", "Try again."),
    "54011": ("would have too many columns for PostgreSQL", "Leave some out."),
    "22021": ("has text that the server's encoding does not support", "A zero byte is the likeliest cause."),
    "22": ("has a value that cannot be converted", "Check the casts of the query or view."),
    "42": ("is refused by the server", "Try it in psql, which says why."),
    "53": ("is more than the server can do now", "Try again later."),
    "08": ("lost its connection", "Check the network and try again."),
}

# Part of libpq's message on connecting → message and hint.
_CONNECTING = {
    "password authentication failed": ("refuses the password", "Set PGPASSWORD, or check ~/.pgpass."),
    "no password supplied": ("wants a password", "Set PGPASSWORD, or write ~/.pgpass."),
    "authentication failed": ("refuses this user", "Check the user, and pg_hba.conf on the server."),
    "no pg_hba.conf entry": ("does not accept connections from this machine", "Check pg_hba.conf on the server."),
    "role": ("does not know this user", "Check the user in the address, or PGUSER."),
    "does not exist": ("does not exist", "Check the name of the database."),
    "translate host name": ("has an unknown host name", "Check the host."),
    "Connection refused": ("does not answer", "Check host and port, and whether the server is running."),
    "No such file": ("does not answer", "Check host and port, and whether the server is running."),
    "timeout expired": ("does not answer in time", "Check host and port."),
    "SSL": ("and this machine do not agree on SSL", "Check sslmode in the address."),
    "too many": ("has too many connections", "Try again later."),
    "starting up": ("is just starting", "Try again in a moment."),
    "invalid": ("has an address that libpq does not accept", "Check port and parameters."),
}
# Part of the server's message about a failure between two batches → SQLSTATE.
_STREAMED = (
    ("invalid input syntax", "22"),
    ("out of range", "22"),
    ("division by zero", "22"),
    ("canceling statement", "57014"),
    ("terminating connection", "57P01"),
    ("permission denied", "42501"),
    ("No space left", "53100"),
    ("server closed the connection", "08"),
)
_UNKNOWN = _STATES["42"]


def fault(error: Exception, place: Place) -> DataError:
    """Convert a driver error to a coterie error, without any of its text."""
    state = getattr(error, "sqlstate", None) or _state_in(str(error))
    if state:
        said, hint = _STATES.get(state) or _STATES.get(state[:2]) or _UNKNOWN
    elif "connect" in str(error).lower():
        told = (told for part, told in _CONNECTING.items() if part in str(error))
        said, hint = next(told, ("cannot be reached", _UNKNOWN[1]))
        return DataError(f"{place.shown} {said}.", hint=hint)
    else:
        said, hint = _UNKNOWN
    return DataError(f"{place.name} {said}.", hint=hint)


def _state_in(text: str) -> str:
    """Return the likely SQLSTATE of an error that came through a stream of batches, from its text."""
    return next((state for part, state in _STREAMED if part in text), "") if "Execution error" in text else ""
