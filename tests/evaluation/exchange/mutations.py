"""Mutations of files: bytes that no tool would write."""

from random import Random

WORDS = (
    b"\0",
    b"\xff",
    b"\xe9",
    b"\xef\xbb\xbf",
    b"[" * 50,
    b"{" * 50,
    b"[]",
    b"{}",
    b"null",
    b"true",
    b"-1",
    b"1e308",
    b"1e999",
    b"NaN",
    b"9" * 30,
    b"9" * 5000,
    b'"',
    b'""',
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b",",
    b":",
    b"\n",
    b"\r",
    b"\t",
    b";",
    b"'",
    b"x" * 300,
    b" " * 10,
    b"\xf0\x9f\x98\x80",
    b"<a:b>",
    b"_:b",
    b"^^",
    b"@en",
)


def mutated(content: bytes, random: Random) -> bytes:
    """Return a file with some places changed: cut, repeated, moved, replaced, or a bit flipped."""
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        at = random.randrange(len(changed) + 1)
        end = min(len(changed), at + random.choice([0, 1, 1, 4, 20, 200]))
        match random.randrange(5):
            case 0:
                changed[at:end] = random.choice(WORDS)
            case 1:
                del changed[at:end]
            case 2:
                changed[at:at] = changed[at:end] * random.choice([1, 2, 50])
            case 3 if end > at:
                changed[at] ^= 1 << random.randrange(8)
            case _:
                part = changed[at:end]
                del changed[at:end]
                to = random.randrange(len(changed) + 1)
                changed[to:to] = part
    return bytes(changed)
