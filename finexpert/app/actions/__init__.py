"""What a person can do at a desk, one file a subject. `finexpert.app.desk.Desk` is all of them together."""
