"""The rung of macOS, written by its documentation; not run on a Mac."""
