"""A window over a stream of bytes: what mail splitters look at without holding the stream."""

from __future__ import annotations

from patchlore.ingest.sources.compression import Readable

CHUNK = 1 << 18


class Window:
    """The bytes of a stream from offset ``base`` on, as far as they were asked for.

    ``trouble`` says why the stream ended early, if it did.
    """

    def __init__(self, stream: Readable, base: int = 0) -> None:
        self._stream = stream
        self.base = base
        self.data = bytearray()
        self.ended = False
        self.trouble: str | None = None

    def more(self) -> bool:
        """Read a chunk more; False at the end of the stream."""
        if self.ended:
            return False
        try:
            chunk = self._stream.read(CHUNK)
        except OSError as error:
            self.trouble = f"reading it failed ({error.strerror or error})"
            chunk = b""
        self.data += chunk
        self.ended = not chunk
        return not self.ended

    def fill(self, size: int) -> bool:
        """Hold SIZE bytes from ``base``; False when the stream ends before."""
        while len(self.data) < size:
            if not self.more():
                return False
        return True

    def drop(self, size: int) -> None:
        """Forget the first SIZE bytes."""
        del self.data[:size]
        self.base += size

    def find(self, needle: bytes, start: int, limit: int) -> int:
        """Where NEEDLE is at or after START, relative to ``base``; -1 if not before LIMIT."""
        while True:
            found = self.data.find(needle, start)
            if 0 <= found <= limit:
                return found
            start = max(start, len(self.data) - len(needle) + 1)
            if found >= 0 or start > limit or not self.more():
                return -1
