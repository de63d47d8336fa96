"""Text to immutable records that carry file and line. Pure functions: no files, no database, no clock, no network."""
