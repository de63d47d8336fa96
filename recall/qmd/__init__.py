"""QMD as the back end of search: a program of its own that indexes and searches, driven over its command line."""
