"""Coterie."""
