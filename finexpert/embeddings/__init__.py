"""Texts as vectors: the packaged sentence model, a provider's, and an index over them."""
