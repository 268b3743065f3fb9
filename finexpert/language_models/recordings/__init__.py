"""Completions kept for replay without a model."""
