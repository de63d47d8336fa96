"""A question in, a small cited bundle out."""
