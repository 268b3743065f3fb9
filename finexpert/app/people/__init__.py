"""Who asks: people, their tokens and logins."""
