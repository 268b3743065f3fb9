"""Checks of a SELECT and of what it gave, made at home: no model is asked, and no cell value leaves."""
