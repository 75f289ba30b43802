"""400 real CVEs: announcement, record and dyad file, read apart, name the same pairs."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import msgspec
import pytest

from patchlore.ingest.parse import parse_raw
from patchlore.ingest.raw import Raw
from patchlore.ingest.sources.reading import read_source

CORPUS = Path(__file__).resolve().parents[3] / "shared/corpora/cve-records.tar.xz"
Pair = tuple[str | None, str | None, str | None, str | None]


@pytest.mark.skipif(not CORPUS.exists(), reason="needs ../shared/corpora/cve-records.tar.xz")
def test_announcements_records_and_dyad_files_agree() -> None:
    """In 2,079 of 2,100 pairs, and the other 21 have a reason."""
    pairs: dict[str, dict[str, set[Pair]]] = defaultdict(dict)
    for item in read_source(str(CORPUS)):
        assert isinstance(item, Raw) or "Mark" in type(item).__name__
        if isinstance(item, Raw):
            record = parse_raw(item).cve_record
            assert record is not None
            assert record.id is not None
            pairs[record.id][item.source.format] = {
                msgspec.structs.astuple(pair) for pair in record.pairs
            }
    assert len(pairs) == 400
    assert sum(len(forms["cve-dyad"]) for forms in pairs.values()) == 2100
    missing: list[Pair] = []
    for forms in pairs.values():
        dyad = forms["cve-dyad"]
        assert forms["mbox"] <= dyad
        missing.extend(dyad - forms["mbox"])
        # A record has its commits and its versions in two lists.
        assert {pair[1::2] for pair in forms["cve-json"]} == {pair[1::2] for pair in dyad}
    # What came and went within one release made no release vulnerable: it is not announced.
    assert all(vulnerable == fixed for vulnerable, _, fixed, _ in missing)
    assert len(missing) == 21
