"""Databases by address."""
