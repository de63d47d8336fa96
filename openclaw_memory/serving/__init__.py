"""A workspace that stays open: the resident process over JSON lines, and the MCP server."""
