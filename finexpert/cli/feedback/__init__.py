"""The queue of what people said about answers."""
