"""What stands before the doors: limits, addresses that may be opened, uploads, seals, headers."""
