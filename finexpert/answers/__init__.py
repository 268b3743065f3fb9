"""What comes back: records, replay, export, kept conversations, answers given before."""
