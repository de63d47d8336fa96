"""The plug-in for OpenClaw: data, no code of Python's."""
