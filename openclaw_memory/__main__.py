"""``python -m openclaw_memory`` is ``openclaw-memory``."""

from .entry import main

main()
