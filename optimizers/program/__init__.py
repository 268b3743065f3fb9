"""A compiled program: saved, loaded, fingerprinted, logged in MLflow."""
