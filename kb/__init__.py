"""Floor 2, knowing: the archive on disk and everything that follows from it."""
