"""What the checks know of a SELECT: its sources, conditions and time, and what the warehouse tells of them."""
