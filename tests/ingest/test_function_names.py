"""The name of the function in a hunk header."""

from __future__ import annotations

import pytest

from patchlore.ingest.function_names import function_name


@pytest.mark.parametrize(
    ("header", "name"),
    [
        (" static int ring_poll(struct ring *ring)", "ring_poll"),
        ("struct slot *ring_next (struct ring *ring,", "ring_next"),
        (" static __init int __attribute__((cold)) ring_init(void)", "ring_init"),
        (" struct ring {", "ring"),
        (" static const struct ring_ops fast_ops = {", "ring_ops"),
        (" static const int widths[] = {", "widths"),
        (" SYSCALL_DEFINE3(splice_ring, int, fd)", "splice_ring"),
        (" ENTRY(ring_entry)", "ring_entry"),
        (" DEFINE_RING(first_ring);", "first_ring"),
        (" def turn(self, ring):", "turn"),
        (" class Ring:", "Ring"),
        (" func (r *Ring) Turn(n int) error {", "Turn"),
        (" pub fn turn<T>(ring: &T)", "turn"),
        (" #define RING_SIZE(n) \\", "RING_SIZE"),
        (" out_free:", "out_free"),
        (" if (ring) {", None),
        ("", None),
        (" }", None),
    ],
)
def test_name_is_found(header: str, name: str | None) -> None:
    """The name is that of the function, else of the type, the variable or the label."""
    assert function_name(header) == name
