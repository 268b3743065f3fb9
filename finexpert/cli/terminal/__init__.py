"""What a terminal shows and is told: tables, the wait, completion, files of an answer."""
