"""Meaning as vectors: the built-in static model, and the providers that a user may have besides."""
