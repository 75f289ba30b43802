"""Everything that the archive knows about one thing: a bug, a commit, a thread, a message."""
