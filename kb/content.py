"""The compressed form of what is kept of a message: raw bytes and the Message made of them."""

from __future__ import annotations

import msgspec
import zstandard
from msgspec import Struct

from patchlore.ingest.message import Message

#: Level 3, zstd's default, wins 9 % and costs half as much time again.
LEVEL = 1

#: Size of a trained dictionary, and how much sample text it is trained on.
DICTIONARY_BYTES = 64 * 1024
SAMPLE_BYTES = 4 * 1024 * 1024


#: No mail that is read is longer (64 MiB), with all that is known of it.
_MOST_BYTES = 1 << 30


class Content(Struct, array_like=True):
    """What is stored of a message: the raw mail of its best copy and its facts.

    The facts stay encoded until they are asked for; exporting a raw mail
    never pays for them.
    """

    raw: bytes
    facts: msgspec.Raw


_encoder = msgspec.msgpack.Encoder()
_content_decoder = msgspec.msgpack.Decoder(Content)
_message_decoder = msgspec.msgpack.Decoder(Message)


def encode_message(message: Message) -> bytes:
    """Return the message as msgpack: what workers send and ``Content`` keeps."""
    return _encoder.encode(message)


def decode_message(data: bytes | msgspec.Raw) -> Message:
    """Return the message that ``encode_message`` made ``data`` of."""
    return _message_decoder.decode(data)


class Codec:
    """Compresses and decompresses blobs with the dictionaries of one archive."""

    def __init__(self, dictionaries: dict[int, bytes], current: int | None) -> None:
        """Take the archive's dictionaries by id and the id to compress with."""
        self._plain = zstandard.ZstdDecompressor()
        self._by_id = {
            number: zstandard.ZstdDecompressor(dict_data=zstandard.ZstdCompressionDict(data))
            for number, data in dictionaries.items()
        }
        chosen = None if current is None else zstandard.ZstdCompressionDict(dictionaries[current])
        if chosen is not None:
            chosen.precompute_compress(level=LEVEL)
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, dict_data=chosen)

    def compress(self, data: bytes) -> bytes:
        """Return ``data`` as one zstd frame."""
        return self._compressor.compress(data)

    def decompress(self, data: bytes) -> bytes:
        """Return what ``compress`` made ``data`` of; raises zstandard.ZstdError on damage."""
        frame = zstandard.get_frame_parameters(data)
        if _MOST_BYTES < frame.content_size < zstandard.CONTENTSIZE_ERROR:
            raise zstandard.ZstdError(f"it claims to be {frame.content_size:,} bytes long")
        return self._by_id.get(frame.dict_id, self._plain).decompress(data)

    def pack(self, raw: bytes, facts: bytes) -> bytes:
        """Return the row of table ``content``: raw mail and encoded Message in one frame."""
        return self.compress(_encoder.encode(Content(raw, msgspec.Raw(facts))))

    def unpack(self, data: bytes) -> Content:
        """Return what ``pack`` made ``data`` of."""
        return _content_decoder.decode(self.decompress(data))


def train(samples: list[bytes]) -> tuple[int, bytes] | None:
    """Train a compression dictionary: its id and its data; None when there is too little text.

    ``samples`` are packed but uncompressed contents.  The first mails of an
    archive speak for the rest: the same lists, robots and header fields.
    """
    total = 0
    taken: list[bytes | bytearray | memoryview] = []
    for sample in samples:
        if total >= SAMPLE_BYTES:
            break
        taken.append(sample[: 32 * 1024])
        total += len(taken[-1])
    if len(taken) < 100 or total < 8 * DICTIONARY_BYTES:
        return None
    # Fixed parameters: the search for the best ones takes seconds and wins nothing.
    trained = zstandard.train_dictionary(DICTIONARY_BYTES, taken, k=1024, d=8, level=LEVEL)
    return trained.dict_id(), trained.as_bytes()


def pack_sample(raw: bytes, facts: bytes) -> bytes:
    """Return what ``Codec.pack`` would compress, as a sample to train on."""
    return _encoder.encode(Content(raw, msgspec.Raw(facts)))
