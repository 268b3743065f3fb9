"""Processes as files that people review, and as the tables that their SELECTs are read as."""
