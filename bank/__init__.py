"""The workspace on disk and the index derived from it. The Markdown is the truth; the index can be thrown away."""
