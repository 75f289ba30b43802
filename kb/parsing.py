"""Parsing beside the writer: chunks of raw mail to Messages and rows, in worker processes."""

from __future__ import annotations

import contextlib
import email
import email.policy
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import Self

import msgspec
from msgspec import Struct

from patchlore.ingest.errors import Defect
from patchlore.ingest.message import Message
from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.kb.content import encode_message
from patchlore.kb.shaping import Shaped, shape

#: The code of the defect of a mail that the parser could not take.
PARSER_ERROR = "parser-error"


class Work(Struct, array_like=True):
    """What a worker makes of one mail."""

    facts: bytes
    shaped: Shaped


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Work]).decode


def parse_safely(raw: Raw) -> Message:
    """Parse a mail; one that the parser fails on becomes a Message that says so.

    Its headers are read as far as the standard library can, so that it is
    still found under its Message-ID; its raw bytes are kept as any other's.
    """
    try:
        return parse_raw(raw)
    except Exception as error:  # the mail must be kept whatever the bug is
        return failed_message(raw, f"{type(error).__name__}: {error}")


def failed_message(raw: Raw, reason: str) -> Message:
    """Return the Message of a mail that could not be parsed."""
    headers: dict[str, str] = {}
    try:
        parsed = email.message_from_bytes(raw.data[:100_000], policy=email.policy.compat32)
        for name in ("Message-ID", "Subject"):
            text = str(parsed.get(name, "")).encode("utf-8", "replace").decode("utf-8")
            headers[name] = " ".join(text.split())
    except Exception:  # headers are a help, nothing hangs on them
        headers = {}
    return Message(
        source=raw.source,
        message_id=headers.get("Message-ID", "").strip("<> ") or None,
        subject=headers.get("Subject") or None,
        clean_subject=headers.get("Subject") or None,
        body=raw.data.decode("utf-8", "replace"),
        malformed=True,
        defects=[Defect(PARSER_ERROR, 0, reason[:500])],
    )


def _work(raw: Raw) -> Work:
    message = parse_safely(raw)
    try:
        return Work(encode_message(message), shape(message))
    except Exception as error:
        message = failed_message(raw, f"{type(error).__name__}: {error}")
        return Work(encode_message(message), shape(message))


def parse_chunk(raws: list[Raw]) -> list[Work]:
    """Parse a chunk in this process."""
    return [_work(raw) for raw in raws]


def _parse_remote(raws: list[Raw]) -> bytes:
    return _encode([_work(raw) for raw in raws])


def _end_with_parent() -> None:
    """Make this process end when the one that started it does, even by SIGKILL.

    A worker that waits for work holds both ends of its pipe and would never see
    that nobody is left to send any.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        multiprocessing.connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Start a process without a signal in the middle; it inherits that ^C is not for it.

    A process that is half started complains about its missing half; the signal
    is heard when it has started.
    """
    heard: list[int] = []
    handlers = []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):
                    handlers.append((number, handler))
                    signal.signal(number, lambda number, frame: heard.append(number))
        yield
    finally:
        for number, handler in handlers:
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in handlers:
            if number in heard:
                handler(number, None)


class Workers:
    """Parses chunks in order, in ``jobs`` processes beside this one.

    ``submit`` takes a chunk, ``results`` gives the parsed ones back in order.
    Chunks in flight are bounded by the caller.  Processes are started on first
    use: a handful of mails is parsed faster than a process starts.
    """

    def __init__(self, jobs: int, *, inline_bytes: int) -> None:
        """Take the number of processes and the bytes that are parsed before they start."""
        self._jobs = jobs
        self._inline_left = inline_bytes
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: deque[tuple[list[Raw], Future[bytes] | list[Work]]] = deque()

    def __enter__(self) -> Self:
        """Return itself; the processes end with the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the worker processes."""
        self._stop()

    def __len__(self) -> int:
        """The number of chunks in flight."""
        return len(self._waiting)

    def submit(self, raws: list[Raw]) -> None:
        """Start on a chunk."""
        size = sum(len(raw.data) for raw in raws)
        if self._jobs == 0 or size <= self._inline_left:
            self._inline_left -= size
            self._waiting.append((raws, parse_chunk(raws)))
            return
        self._inline_left = 0
        self._waiting.append((raws, self._start(raws)))

    def results(self, *, leave: int = 0) -> Iterator[list[Work]]:
        """Yield what became of the oldest chunks, until only ``leave`` are in flight."""
        while len(self._waiting) > leave:
            raws, future = self._waiting.popleft()
            if isinstance(future, list):
                yield future
                continue
            try:
                yield _decode(future.result())
            except BrokenProcessPool:
                yield self._one_by_one(raws)

    def _start(self, raws: list[Raw]) -> Future[bytes]:
        if self._pool is None:
            # Not fork: a child would inherit the lock on the archive and keep it.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                self._jobs, mp_context=context, initializer=_end_with_parent
            )
        try:
            with _undisturbed():
                return self._pool.submit(_parse_remote, raws)
        except BrokenProcessPool:  # what broke it comes to light in `results`
            self._pool = None
            return self._start(raws)

    def _one_by_one(self, raws: list[Raw]) -> list[Work]:
        """A process died (memory, a bug below Python): find the mail, keep the others."""
        waiting = list(self._waiting)
        self._stop()
        works: list[Work] = []
        for raw in raws:
            try:
                works += _decode(self._start([raw]).result())
            except BrokenProcessPool:
                self._stop()
                message = failed_message(raw, "the process that parsed the mail was ended")
                works.append(Work(encode_message(message), shape(message)))
        self._waiting = deque(
            (chunk, future if isinstance(future, list) else self._start(chunk))
            for chunk, future in waiting
        )
        return works

    def _stop(self) -> None:
        if self._pool is not None:
            queue = getattr(self._pool, "_call_queue", None)
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
            # When all workers have died, a chunk on its way to them would block the
            # end of this process for ever: mended in Python 3.12 (gh-94777) by this.
            reader = getattr(queue, "_reader", None)
            if reader is not None:
                with contextlib.suppress(OSError):
                    reader.close()
        self._waiting.clear()
