"""The simplest ways, which every layer is measured beside: one call, nothing looked up, no second look."""
