"""The Run screen: the method and its options, and runs that can be followed and cancelled.

May import what `web` may.
"""
