"""The low watermark: up to which instant no earlier-dealt claim can still turn up.

Each live table has a frontier: the lower bound of its oldest round that is unfinished or not acknowledged to
it; with none, of its last heartbeat. A table never heard of does not count.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from controller.jackpots.claims import Claim
from controller.jackpots.clocks import Clock

RUNNING = ""
CLOSED = "closed"
NO_PROGRESSIVE = "no_progressive"


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A round that may still bring a claim."""

    number: int
    lower: int
    """No hand of it was dealt before this, by our clock."""


@dataclass(frozen=True, slots=True)
class TableState:
    """What the store knows of a table."""

    id: str
    highest: int
    """Its highest recorded round."""
    live: bool
    clock: Clock | None
    measured_at: int
    contact: int
    base: int
    """What its last heartbeat, opening or closed round vouches for."""
    open_rounds: tuple[OpenRound, ...]
    released: int
    """Up to here the House goes on without it."""
    suspension: str
    boxes_off: tuple[int, ...]
    notice: str

    def clock_at(self, now: int) -> Clock | None:
        """The clock with what it may have drifted since it was measured."""
        return self.clock.aged(now - self.measured_at) if self.clock else None

    @property
    def frontier(self) -> int:
        """No claim that was dealt before this can still come from it."""
        reached = min((r.lower for r in self.open_rounds), default=self.base)
        return max(reached, self.released)


def parse_tables(fields: Mapping[str, str]) -> dict[str, TableState]:
    """Every table of a link that was ever heard of, from the store's hash."""
    names = {name.partition("/")[0] for name in fields}
    return {name: _table(name, fields) for name in sorted(names)}


def _table(name: str, fields: Mapping[str, str]) -> TableState:
    def text(field: str) -> str:
        return fields.get(f"{name}/{field}", "")

    def number(field: str) -> int:
        return int(text(field) or 0)

    rounds = (part.split("=") for part in text("open").split(";") if part)
    return TableState(
        id=name,
        highest=int(fields.get(name, "0")),
        live=text("live") == "1",
        clock=Clock(number("offset"), number("uncertainty")) if text("offset") else None,
        measured_at=number("measured_at"),
        contact=number("contact"),
        base=number("base"),
        open_rounds=tuple(OpenRound(int(n), int(lower)) for n, lower, _ in rounds),
        released=number("released"),
        suspension=text("suspension"),
        boxes_off=tuple(int(box) for box in text("boxes_off").split(",") if box),
        notice=text("notice"),
    )


def holding_back(claim: Claim, tables: Iterable[TableState]) -> list[str]:
    """The live tables from which an earlier-dealt claim could still come."""
    return [table.id for table in tables if table.live and not _passed(claim, table)]


def _passed(claim: Claim, table: TableState) -> bool:
    if table.id != claim.table:
        return table.frontier > claim.latest
    # Later rounds of its own table were dealt later: only its own round and earlier ones hold it.
    unfinished = any(r.number <= claim.round for r in table.open_rounds)
    return not unfinished or table.released > claim.latest
