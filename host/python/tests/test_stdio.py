"""Messages out of a byte stream."""

import io
import unittest
from functools import partial

from backburner_host.stdio import Line, Special, lines

LIMIT_BYTES = 8


class Lines(unittest.TestCase):
    """Cutting a stream into messages."""

    def check(self, stream: bytes, expected: list[Line]) -> None:
        for chunk_bytes in (1, 3, 64):
            read = partial(io.BytesIO(stream).read, chunk_bytes)
            self.assertEqual(list(lines(read, LIMIT_BYTES)), expected)

    def test_each_line_is_a_message(self) -> None:
        self.check(b"one\ntwo\n", [b"one", b"two"])
        self.check(b"one\r\ntwo", [b"one", b"two"])
        self.check(b"", [])

    def test_empty_lines_are_skipped(self) -> None:
        self.check(b"\n\r\n\none\n\n", [b"one"])

    def test_a_line_of_the_limit_is_accepted_and_a_longer_one_is_not(self) -> None:
        self.check(b"12345678\n", [b"12345678"])
        self.check(b"123456789\nnext\n", [Special.TOO_LARGE, b"next"])
        self.check(b"123456789", [Special.TOO_LARGE])

    def test_bytes_that_are_not_text_arrive_as_they_are(self) -> None:
        self.check(b"\xff\x00\n", [b"\xff\x00"])
