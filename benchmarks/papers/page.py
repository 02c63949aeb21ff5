"""Placeholder until the page is written."""


def write():
    return []
