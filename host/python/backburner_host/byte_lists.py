"""Makes wasmtime-py give `list<u8>` to a component twenty times as fast.

Version 50 converts such a list byte by byte in Python, 1 to 3 µs each: the first `tasks/get` after a job with a
megabyte of output took two seconds, in which a server did nothing else. This replaces one method of it, and only for
`bytes`; it relies on what is not public there, which is one more reason to pin its version exactly. Remove it where
wasmtime-py does better, nothing else depends on it.
"""

import ctypes
from typing import Any

from wasmtime import Storelike, _ffi
from wasmtime.component._types import ListType

_lower = ListType.convert_to_c


def install() -> None:
    """Replace the method, in this process."""
    ListType.convert_to_c = _lower_fast


def _lower_fast(self: ListType, store: Storelike, value: Any, place: Any) -> None:
    if not (isinstance(value, bytes) and self._is_bytes()):
        return _lower(self, store, value, place)
    values = b"".join(map(_VALUES.__getitem__, value))
    lowered = _ffi.wasmtime_component_vallist_t()
    _ffi.wasmtime_component_vallist_new_uninit(lowered, len(value))
    ctypes.memmove(lowered.data, values, len(values))
    place.contents.kind = _ffi.WASMTIME_COMPONENT_LIST
    place.contents.of.list = lowered


def _lowered(byte: int) -> bytes:
    value = _ffi.wasmtime_component_val_t()
    value.kind = _ffi.WASMTIME_COMPONENT_U8
    value.of.u8 = byte
    return bytes(value)


_VALUES = [_lowered(byte) for byte in range(256)]
"""The memory of each byte as a value of the component model: it holds no pointer, so it can be copied."""
