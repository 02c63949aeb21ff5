"""Roles for tests of other things: `anonymize` refuses a table with a column that has none."""


def kept_otherwise(columns, settings):
    """Settings that keep every column to which they give no other role."""
    roles = ("quasi", "sensitive", "identifiers", "drop")
    listed = {settings.get("entity"), *(name for role in roles for name in settings.get(role, ()))}
    return {"keep": [name for name in columns if name not in listed], **settings}
