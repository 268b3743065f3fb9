"""What a SELECT does with days, moments, and rows that say what was there at a time."""
