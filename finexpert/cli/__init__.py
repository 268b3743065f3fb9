"""The command line: one file per command. Only here does an error become one line and an exit code."""
