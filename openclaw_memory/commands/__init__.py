"""The sub-commands of `openclaw memory`, a module for each group."""
