"""Session transcripts as a second source of search: an agent's own, found, read and indexed apart from its memory."""
