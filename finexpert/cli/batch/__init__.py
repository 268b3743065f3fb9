"""`finexpert batch`: a file of questions, a file of answers."""
