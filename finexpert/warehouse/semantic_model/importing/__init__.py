"""What other tools say of tables, taken over into a semantic model: dbt, Cube, LookML.

Each format says in its own file what it knows; what is taken over, and whether it holds on the data, is decided in `taken.py` for all.
"""
