"""The Goals screen: how well rows are to be hidden, what detail is worth, whom the release is for.

May import what `web` may.
"""
