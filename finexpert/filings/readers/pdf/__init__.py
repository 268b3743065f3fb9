"""A filing as PDF: its characters, the lines and tables that they make, what of it is seen, and its picture."""
