"""The audit log's hash chain: SHA-256 over a canonical form, each entry sealing all before it.

Pure, so that a regulator can check an export with twenty lines of code and no server.
"""

import hashlib
import json

GENESIS = "0" * 64
"""What the first entry of a link chains to."""


def seal(previous: str, link: str, seq: int, fields: dict[str, str]) -> str:
    """The hash of an entry: of the previous hash, its place, and every recorded field.

    >>> seal(GENESIS, "tcp", 1, {"kind": "x"})[:16]
    '79dddeebcd2e7a99'
    """
    canonical = json.dumps(
        [previous, link, seq, sorted(fields.items())], ensure_ascii=True, separators=(",", ":")
    )
    return hashlib.sha256(canonical.encode()).hexdigest()
