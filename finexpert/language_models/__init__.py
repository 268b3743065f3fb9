"""Language models: which one is asked, how it is found, counted, bounded, recorded and replayed."""
