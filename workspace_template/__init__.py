"""What `init` copies into a workspace: data, no code."""
