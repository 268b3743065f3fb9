"""The index of a library: words, vectors, and how both are joined."""
