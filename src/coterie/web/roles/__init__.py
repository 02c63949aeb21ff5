"""The Roles screen: what each column is, and the risk that it adds.

May import what `web` may.
"""
