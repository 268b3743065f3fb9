"""What shuts a process in, for any guest: scripts, SELECTs, readers of files."""
