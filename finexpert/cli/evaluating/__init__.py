"""What runs the evaluations of `finexpert.cli.eval`, and shows and keeps what came out."""
