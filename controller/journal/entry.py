"""One journal entry as the store wrote it, and the checks that need nothing but the entry itself.

Amounts are text on the wire (Redis and Lua would round them) and `int` here.
"""

import hashlib
from dataclasses import dataclass

from controller.errors import LedgerMismatch

GENESIS_HEAD = ""
"""What the first entry of a link chains to inside the store."""

_FIELDS = ("epoch", "at", "kind", "round", "facts", "postings", "after", "head")


@dataclass(frozen=True, slots=True)
class Posting:
    """One side of a double entry: micro-cents into (positive) or out of (negative) an account."""

    account: str
    amount: int


@dataclass(frozen=True, slots=True)
class Entry:
    """What one atomic step did."""

    link: str
    seq: int
    epoch: int
    at: int
    kind: str
    round: str
    facts: str
    postings: str
    after: str
    head: str

    @classmethod
    def from_stream(cls, link: str, stream_id: str, fields: dict[str, str]) -> "Entry":
        """Read what the scripts append; a stream that holds anything else is not ours."""
        seq, _, zero = stream_id.partition("-")
        if zero != "0" or set(fields) != set(_FIELDS):
            raise LedgerMismatch(f"link {link}: stream entry {stream_id} is not a journal entry")
        return cls(
            link=link,
            seq=int(seq),
            epoch=int(fields["epoch"]),
            at=int(fields["at"]),
            kind=fields["kind"],
            round=fields["round"],
            facts=fields["facts"],
            postings=fields["postings"],
            after=fields["after"],
            head=fields["head"],
        )

    def recorded_fields(self) -> dict[str, str]:
        """Every field that the audit log seals, as text."""
        return {
            "epoch": str(self.epoch),
            "at": str(self.at),
            "kind": self.kind,
            "round": self.round,
            "facts": self.facts,
            "postings": self.postings,
            "after": self.after,
            "head": self.head,
        }

    def expected_head(self, previous_head: str) -> str:
        """The head that this entry must carry after `previous_head`.

        SHA-1 is what Redis offers inside a script. It tells lost and reused sequence numbers apart;
        protection against a forger is the audit log's SHA-256 chain.
        """
        parts = (
            previous_head,
            str(self.epoch),
            str(self.seq),
            str(self.at),
            self.kind,
            self.round,
            self.facts,
            self.postings,
            self.after,
        )
        return hashlib.sha1("\n".join(parts).encode(), usedforsecurity=False).hexdigest()

    def balanced_postings(self) -> list[Posting]:
        """The postings, which sum to zero; an entry that does not is refused whole."""
        lines = [Posting(a, v) for a, v in parse_amounts(self.postings)]
        if sum(line.amount for line in lines) != 0:
            raise LedgerMismatch(f"link {self.link}: postings of entry {self.seq} do not sum to zero")
        return lines


def parse_amounts(text: str) -> list[tuple[str, int]]:
    """`name=amount;name=amount` as pairs.

    >>> parse_amounts("bets=-500000000;meter/major=500000000")
    [('bets', -500000000), ('meter/major', 500000000)]
    >>> parse_amounts("")
    []
    """
    pairs = (part.rpartition("=") for part in text.split(";") if part)
    return [(name, int(amount)) for name, _, amount in pairs]
