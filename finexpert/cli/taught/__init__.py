"""The commands over what was taught: memory and glossary, and what both have."""
