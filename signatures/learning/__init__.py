"""What a language model is asked about what people teach."""
