"""The Roles screen: each column's role, and its contribution to the risk.

May import what `web` may.
"""
