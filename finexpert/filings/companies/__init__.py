"""Which company a question or a filing means."""
