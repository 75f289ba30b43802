"""Answers to other programs: a page and an API on this machine, tools for assistants (MCP)."""
