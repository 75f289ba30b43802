"""Floor 1, reading: bytes of any archive format in, messages with facts out. No I/O in parsing."""
