"""Almost valid frames: messages with errors in them, and invalid framing.

Everything is derived from the given random source, so a run is reproducible by its seed.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from kibitz_protocol.wire.codec import encode
from tests.tools.sample_messages import REQUESTS

TEXT, BINARY, CLOSE, PING, PONG = 0x81, 0x82, 0x88, 0x89, 0x8A
NESTING = 3000
INVALID_UTF8_SHARE = 0.05
"""The probability of keeping invalid UTF-8, which ends the connection and skips all later
frames."""
VALID_MESSAGES: Final[tuple[dict[str, Any], ...]] = tuple(
    json.loads(encode(sample)) for sample in REQUESTS
)
"""One valid message of every type, as a JSON object."""
TYPE_SHARES: Final = {
    "move": 10.0,
    "rejoin": 3.0,
    "host": 3.0,
    **dict.fromkeys(("leave", "kick", "close", "resign", "leave_match"), 0.02),
}
"""The relative frequencies of types other than 1; types that end a match are rare, since they also
end the tests on it."""
TYPE_WEIGHTS: Final = [TYPE_SHARES.get(sound["type"], 1.0) for sound in VALID_MESSAGES]

ODD_VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    2**53,
    2**63,
    -(2**64),
    10**400,
    0.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\x00",
    "\ud800",
    "\u202egnp.exe",
    "а",
    "A" * 5000,
    "../../etc/passwd",
    "'; DROP TABLE stream; --",
    [],
    {},
    [[]],
    {"type": "hello"},
    [0] * 500,
    {str(n): n for n in range(50)},
)
"""Values that are invalid everywhere."""


def zero_masked_frame(payload: bytes, first: int = TEXT) -> bytes:
    """Build a client frame with an all-zero mask."""
    size = len(payload)
    if size < 126:
        head = bytes((first, 0x80 | size))
    elif size < 65536:
        head = bytes((first, 0x80 | 126)) + size.to_bytes(2, "big")
    else:
        head = bytes((first, 0x80 | 127)) + size.to_bytes(8, "big")
    return head + b"\0\0\0\0" + payload


class MessageFuzzer:
    """A source of invalid messages and frames."""

    def __init__(self, seed: str, known: Mapping[str, list[Any]]) -> None:
        """Create a fuzzer; `known` maps some fields to existing keys of matches and lobbies."""
        self.chance = random.Random(seed)
        self.known = known

    # --- messages -----------------------------------------------------------------------------

    def message(self) -> bytes:
        """Return a frame with a message that is valid or has up to three errors."""
        chance = self.chance
        fields = self._with_known_keys(chance.choices(VALID_MESSAGES, TYPE_WEIGHTS)[0])
        fields["id"] = chance.randrange(1, 1 << 30)
        for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
            self._corrupt(fields)
        text = json.dumps(fields, ensure_ascii=chance.random() < 0.5, separators=(",", ":"))
        payload = text.encode(errors="surrogatepass")
        if chance.random() < 0.2:
            payload = chance.choice(_BYTE_CORRUPTIONS)(payload, chance)
        if chance.random() > INVALID_UTF8_SHARE:
            payload = payload.decode(errors="replace").encode()
        return zero_masked_frame(payload[:16_000])

    def _with_known_keys(self, value: Any) -> Any:
        """Copy a message, replacing the sample's keys with existing ones."""
        if isinstance(value, list):
            return [self._with_known_keys(part) for part in value]
        if not isinstance(value, dict):
            return value
        fitted = {key: self._with_known_keys(part) for key, part in value.items()}
        for key, right in self.known.items():
            if key in fitted and self.chance.random() < 0.7:
                fitted[key] = copy.deepcopy(self.chance.choice(right))
        return fitted

    def _corrupt(self, fields: dict[str, Any]) -> None:
        """Introduce one error somewhere in the message."""
        place: Any = fields
        while True:
            key = self._random_key(place)
            if key is None:
                return
            inner = place[key]
            if not isinstance(inner, dict | list) or not inner or self.chance.random() < 0.4:
                break
            place = inner
        self.chance.choice(_CORRUPTIONS)(place, key, self.chance)

    def _random_key(self, place: Any) -> Any:
        if not place:
            return None
        if isinstance(place, list):
            return self.chance.randrange(len(place))
        return self.chance.choice(list(place))

    # --- frames -------------------------------------------------------------------------------

    def malformed_frames(self) -> bytes:
        """Return frames; at least one of them violates the RFC or is truncated."""
        sound = zero_masked_frame(
            json.dumps(self._with_known_keys(self.chance.choice(VALID_MESSAGES))).encode()
        )
        return self.chance.choice(_FRAME_CORRUPTIONS)(sound, self.chance)


def _odd(chance: random.Random) -> Any:
    return copy.deepcopy(chance.choice(ODD_VALUES))


def _replace(place: Any, key: Any, chance: random.Random) -> None:
    place[key] = _odd(chance)


def _remove(place: Any, key: Any, chance: random.Random) -> None:
    del place[key]


def _add(place: Any, key: Any, chance: random.Random) -> None:
    if isinstance(place, list):
        place.append(_odd(chance))
    else:
        place[chance.choice(("extra", "type", "", "__class__", "id"))] = _odd(chance)


def _nest(place: Any, key: Any, chance: random.Random) -> None:
    value: Any = place[key]
    for _ in range(chance.choice((1, 2, 50))):
        value = [value] if chance.random() < 0.5 else {"a": value}
    place[key] = value


def _retype(place: Any, key: Any, chance: random.Random) -> None:
    value = place[key]
    place[key] = str(value) if not isinstance(value, str) else len(value)


_CORRUPTIONS: Final[tuple[Callable[[Any, Any, random.Random], None], ...]] = (
    _replace,
    _replace,
    _remove,
    _add,
    _nest,
    _retype,
)


def _flip(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes((data[place] ^ (1 << chance.randrange(8)),)) + data[place + 1 :]


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def _deeply_nested(data: bytes, chance: random.Random) -> bytes:
    return data[:-1] + b',"deep":' + b"[" * NESTING + b"]" * NESTING + b"}"


def _duplicated(data: bytes, chance: random.Random) -> bytes:
    return data[:-1] + b"," + data[1:]


def _broken_text(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + chance.choice((b"\xff", b"\xc0\xaf", b"\xed\xa0\x80")) + data[place:]


_BYTE_CORRUPTIONS: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (
    _flip,
    _flip,
    _cut,
    _deeply_nested,
    _duplicated,
    _broken_text,
)


def _head_flipped(sound: bytes, chance: random.Random) -> bytes:
    head = bytearray(sound)
    for _ in range(chance.choice((1, 1, 2, 5))):
        head[chance.randrange(14)] ^= 1 << chance.randrange(8)
    return bytes(head) + sound


def _unmasked(sound: bytes, chance: random.Random) -> bytes:
    return bytes((TEXT, 2)) + b"{}"


def _reserved(sound: bytes, chance: random.Random) -> bytes:
    return zero_masked_frame(b"x", 0x80 | chance.choice((3, 4, 5, 6, 7, 11, 12, 13, 14, 15)))


def _reserved_bits(sound: bytes, chance: random.Random) -> bytes:
    return zero_masked_frame(b"{}", TEXT | chance.choice((0x10, 0x20, 0x40)))


def _fragments(sound: bytes, chance: random.Random) -> bytes:
    """Return a fragmented message with valid or invalid frames in between."""
    between = chance.choice(
        (zero_masked_frame(b"", PING), zero_masked_frame(b"late", PONG), sound, b"")
    )
    count = chance.choice((2, 3, 200))
    parts = [
        zero_masked_frame(b"{", 0x01),
        *(zero_masked_frame(b" ", 0x00) for _ in range(count)),
        between,
    ]
    return b"".join(parts) + zero_masked_frame(b"}", 0x80)


def _unstarted_continuation(sound: bytes, chance: random.Random) -> bytes:
    return zero_masked_frame(b"{}", 0x80)


def _long_control(sound: bytes, chance: random.Random) -> bytes:
    return zero_masked_frame(b"x" * 126, chance.choice((PING, PONG, CLOSE)))


def _cut_control(sound: bytes, chance: random.Random) -> bytes:
    return zero_masked_frame(b"x", chance.choice((PING, PONG, CLOSE)) & 0x7F)


def _close_frame(sound: bytes, chance: random.Random) -> bytes:
    code = chance.choice((0, 999, 1000, 1004, 1005, 1006, 1015, 2999, 4000, 65535))
    reason = chance.choice((b"", b"bye", b"\xff\xfe"))
    return (
        zero_masked_frame(chance.choice((b"", b"\x03", code.to_bytes(2, "big") + reason)), CLOSE)
        + sound
    )


def _oversize(sound: bytes, chance: random.Random) -> bytes:
    size = chance.choice((16 * 1024 + 1, 65_536, 2**31, 2**63 - 1, 2**63, 2**64 - 1))
    return bytes((TEXT, 0xFF)) + size.to_bytes(8, "big") + b"\0\0\0\0" + b"x" * 1000


def _overlong_length(sound: bytes, chance: random.Random) -> bytes:
    """Return a frame with a non-minimal length encoding."""
    return bytes((TEXT, 0xFE, 0, 2)) + b"\0\0\0\0{}" + bytes((TEXT, 0xFF)) + b"\0" * 7 + b"\x02{}"


def _partial(sound: bytes, chance: random.Random) -> bytes:
    return sound + sound[: chance.randrange(1, len(sound))]


def _random_bytes(sound: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(chance.choice((1, 10, 1000)))


def _binary(sound: bytes, chance: random.Random) -> bytes:
    return zero_masked_frame(b"{}", BINARY)


_FRAME_CORRUPTIONS: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (
    _head_flipped,
    _head_flipped,
    _head_flipped,
    _unmasked,
    _reserved,
    _reserved_bits,
    _fragments,
    _unstarted_continuation,
    _long_control,
    _cut_control,
    _close_frame,
    _oversize,
    _overlong_length,
    _partial,
    _random_bytes,
    _binary,
)
