"""Words: terms, scrubbing, and how two questions are compared."""
