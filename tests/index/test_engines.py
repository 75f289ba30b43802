"""Every engine finds the same: one suite for the protocol, run on each."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator

import pytest

from patchlore.index.database import ENGINES, IndexDatabase
from patchlore.index.engine import AnyWord, Document, Engine, EngineWriter, Phrase
from patchlore.index.sqlite_engine import SqliteEngine
from patchlore.index.whoosh_engine import WhooshEngine, WhooshWriter
from patchlore.index.words import cut

TEXTS = {
    1: ("let the ring wrap", "the ring can wrap while it is read"),
    2: ("plans", "rings and tests\nwrap the ring twice, ring ring"),
    3: ("ring", "nothing of that kind, don't ask in 4.15.7"),
}

Harness = Callable[[], tuple[EngineWriter, Callable[[], Engine]]]


@pytest.fixture(params=ENGINES)
def harness(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[Harness]:
    """A function that opens a writer, and a function that opens a reader of the same index."""
    databases: list[IndexDatabase] = []

    def make() -> tuple[EngineWriter, Callable[[], Engine]]:
        if request.param == "whoosh":
            folder = tmp_path / "whoosh"
            return WhooshWriter(folder), lambda: WhooshEngine(folder)
        path = tmp_path / "words.sqlite"
        if not path.exists():
            IndexDatabase.create(path, "sqlite")
        database = IndexDatabase(path, write=True)
        databases.append(database)
        engine = SqliteEngine(database)
        return engine, lambda: engine

    yield make
    for database in databases:
        database.close()


def document(number: int, subject: str, own: str) -> Document:
    """Return a document of these texts."""
    return Document(number, {"subject": cut(subject), "own": cut(own)})


@pytest.fixture
def engine(harness: Harness) -> Iterator[Engine]:
    """An engine that holds TEXTS, added in two batches."""
    writer, reader = harness()
    for batch, numbers in enumerate(((1, 2), (3,)), 1):
        for number in numbers:
            writer.add([document(number, *TEXTS[number])])
        writer.commit(batch)
    writer.close()
    engine = reader()
    yield engine
    engine.close()


BOTH = ("subject", "own")


@pytest.mark.parametrize(
    ("fields", "words", "expected"),
    [
        (BOTH, ("ring",), {1, 2, 3}),
        (("own",), ("ring",), {1, 2}),
        (("subject",), ("ring", "plans"), {1, 2, 3}),
        (("own",), ("rings",), {2}),
        (("own",), ("don't",), {3}),
        (("own",), ("4.15.7",), {3}),
        (("own",), ("absent",), set()),
        (("dfb",), ("ring",), set()),
    ],
)
def test_any_word(
    engine: Engine, fields: tuple[str, ...], words: tuple[str, ...], expected: set[int]
) -> None:
    """Documents with at least one of the words in at least one of the fields."""
    assert engine.find(fields, AnyWord(words)) == expected


@pytest.mark.parametrize(
    ("words", "open_end", "expected"),
    [
        (("ring", "wrap"), False, {1}),
        (("wrap", "the", "ring"), False, {2}),
        (("ring", "ring"), False, {2}),
        (("ring", "ring", "ring"), False, set()),
        (("tests", "wrap"), False, set()),
        (("ring", "tw"), True, {2}),
        (("ri",), True, {1, 2, 3}),
        (("zz",), True, set()),
        (("absent", "ring"), False, set()),
    ],
)
def test_phrases(
    engine: Engine, words: tuple[str, ...], open_end: bool, expected: set[int]
) -> None:
    """Words one after the other, never over a break; the last may be a beginning."""
    assert engine.find(BOTH, Phrase(words, open_end)) == expected


def test_rank_knows_fields_and_frequency(engine: Engine) -> None:
    """A word in a weighty field counts more, and only what is wanted is ranked."""
    scores = engine.rank({"subject": 8.0, "own": 1.0}, [AnyWord(("plans",))], {1, 2, 3})
    assert set(scores) == {2}
    assert scores[2] > 0
    assert engine.rank({"subject": 8.0}, [AnyWord(("plans",))], {1}) == {}
    phrase = engine.rank({"own": 1.0}, [Phrase(("wrap", "the", "ring"))], {1, 2, 3})
    assert set(phrase) == {2}


def test_what_is_not_committed_is_not_seen(harness: Harness) -> None:
    """Documents that were added and not committed are gone."""
    writer, reader = harness()
    writer.add([document(1, "seen", "x")])
    writer.commit(1)
    writer.close()
    engine = reader()
    assert engine.find(BOTH, AnyWord(("seen",))) == {1}
    assert engine.find(BOTH, AnyWord(("lost",))) == set()
    engine.close()


def test_a_batch_that_comes_again_takes_the_place_of_the_first(tmp_path: pathlib.Path) -> None:
    """After a kill between two commits the batch is written again, and nothing is doubled."""
    folder = tmp_path / "whoosh"
    for text in ("early", "late"):
        writer = WhooshWriter(folder)
        writer.add([document(1, text, "same")])
        writer.commit(1)
        writer.close()
    engine = WhooshEngine(folder)
    assert engine.find(BOTH, AnyWord(("early",))) == set()
    assert engine.find(BOTH, AnyWord(("late",))) == {1}
    assert engine.find(BOTH, AnyWord(("same",))) == {1}
    engine.close()


def test_small_segments_of_whoosh_are_merged(tmp_path: pathlib.Path) -> None:
    """Many small batches do not become many files, and all of their words stay."""
    folder = tmp_path / "whoosh"
    for number in range(1, 14):
        writer = WhooshWriter(folder)
        writer.add([document(number, f"title{number}", "ring the ring")])
        writer.commit(number)
        writer.close()
    assert len(list(folder.glob("*.seg"))) <= 10
    engine = WhooshEngine(folder)
    assert engine.find(("own",), Phrase(("ring", "the", "ring"))) == set(range(1, 14))
    assert engine.find(("subject",), AnyWord(("title3",))) == {3}
    engine.close()


def test_an_empty_index_finds_nothing(tmp_path: pathlib.Path) -> None:
    """An index without documents can be searched."""
    WhooshWriter(tmp_path / "whoosh").close()
    engine = WhooshEngine(tmp_path / "whoosh")
    assert engine.find(BOTH, AnyWord(("ring",))) == set()
    engine.close()


def test_a_beginning_means_all_words_that_begin_so(harness: Harness) -> None:
    """However many they are in a segment, alone and at the end of a phrase."""
    writer, reader = harness()
    for batch, numbers in enumerate((range(10, 25), range(25, 28), range(30, 31)), 1):
        for number in numbers:
            text = " ".join(f"choose ring_{number}{place:03}" for place in range(800))
            writer.add([document(number, "", f"{text} of rings")])
        writer.commit(batch)
    writer.close()
    engine = reader()
    everything = {*range(10, 28), 30}
    for words, expected in (
        (("ring_",), everything),
        (("ring_2",), {*range(20, 28)}),
        (("ring_26799",), {26}),
        (("ring_26800",), set()),
        (("choose", "ring_1"), {*range(10, 20)}),
        (("of", "ring_"), set()),
        (("of", "ring"), everything),
    ):
        phrase = Phrase(words, open_end=True)
        assert engine.find(("own",), phrase) == expected
        assert engine.rank({"own": 1.0}, [phrase], everything).keys() == expected
    engine.close()
