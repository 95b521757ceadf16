"""Structures in Thrift's compact protocol, in which Parquet writes its footer: read just enough to see where they end and what offsets they tell."""

from typing import Any

STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12

Struct = dict[int, Any]
"""Values by the number of their field."""


class ThriftReader:
    """Reads from some place of some bytes on; `place` is then where it stopped.

    >>> reader = ThriftReader(bytes([0x15, 0x0e, 0x00]))
    >>> reader.struct(), reader.place
    ({1: 7}, 3)
    """

    def __init__(self, data: bytes, place: int = 0) -> None:
        self._data = data
        self.place = place

    def struct(self) -> Struct:
        """One structure."""
        fields: Struct = {}
        field = 0
        while (head := self._byte()) != STOP:
            field = field + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[field] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind == DOUBLE:
            return self._bytes(8)
        if kind == BINARY:
            return self._bytes(self._unsigned())
        if kind in (LIST, SET):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 15) for _ in range(size)]
        if kind == MAP:
            size = self._unsigned()
            kinds = self._byte() if size else 0
            return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(size)]
        return self.struct() if kind == STRUCT else self._signed()

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        part = self._data[self.place : self.place + count]
        if len(part) < count:
            raise ValueError("the structure does not end")
        self.place += count
        return part

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def _signed(self) -> int:
        number = self._unsigned()
        return number >> 1 ^ -(number & 1)
