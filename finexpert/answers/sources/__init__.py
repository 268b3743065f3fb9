"""Several sources asked together: which there are, which a question is for, and the record of its parts."""
