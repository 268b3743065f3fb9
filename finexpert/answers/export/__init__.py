"""An answer as a script of its own: what its code may say, and how it is run shut in."""
