"""The Goals screen: privacy guarantees, how much detail to keep, and who receives the release.

May import what `web` may.
"""
