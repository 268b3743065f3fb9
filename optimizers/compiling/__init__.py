"""The machinery of compiling: tasks, recipes, search, gates, journal."""
