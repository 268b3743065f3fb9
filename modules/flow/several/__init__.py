"""One question over several sources: its parts, and how they meet."""
