"""Small floors for tests, built from text so that they pass through the real validation."""

import msgspec

from controller.betting.locked_bets import LockedRound, lock_bets
from controller.betting.messages import RoundBets
from controller.floor.definition import Floor
from controller.floor.file import parse_floor
from controller.ids import LinkId
from controller.services.commissioning import put_in_force
from controller.store.link_store import LinkStore

LINK = LinkId("link")


def small_floor(
    *,
    rate_ppm: int = 150_000,
    reserve_ppm: int = 30_000,
    opening_cents: int = 2_000_000,
    cap_cents: int | None = None,
    tables: int = 3,
    bet_cents: int = 500,
) -> Floor:
    """One link with one meter, `T-1`… on it, and `N-1` without a link."""
    cap = f", cap_cents: {cap_cents}" if cap_cents is not None else ""
    rows = "\n".join(f"  - {{id: T-{i}, game: TCP, link: link, boxes: 7}}" for i in range(1, tables + 1))
    return parse_floor(f"""
version: 1
casino: Test
pay_tables:
  - id: pays
    game: TCP
    title: Pays
    lines: [{{hand: akq_spades, meter: major, share_ppm: 1000000, rule: TCP 4.4}}]
links:
  - id: link
    title: Link
    currency: USD
    pay_tables: [pays]
    progressive_bet_cents: {bet_cents}
    meters:
      - {{id: major, title: Major, reset_cents: 1000, opening_cents: {opening_cents}, rate_ppm: {rate_ppm},
         reserve_ppm: {reserve_ppm}{cap}}}
tables:
{rows}
  - {{id: N-1, game: NTP, boxes: 7}}
""")


def commission(store: LinkStore, floor: Floor) -> None:
    """Put a floor in force on an empty store."""
    put_in_force(store, floor, 1, "test", {})


def bets(boxes: list[dict[str, object]], closed_at: str = "2026-01-02T03:04:05Z") -> RoundBets:
    """A round's bets from plain values."""
    return msgspec.convert({"bets_closed_at": closed_at, "boxes": boxes}, type=RoundBets)


def locked(floor: Floor, table: str, number: int, boxes: int, *, note: str = "p") -> LockedRound:
    """A round with this many progressive bets; another note makes another body."""
    amount = floor.links[0].progressive_bet_cents
    rows: list[dict[str, object]] = [
        {"box": b + 1, "player": note, "progressive_cents": amount} for b in range(boxes)
    ]
    rows = rows or [{"box": 1, "player": note}]
    return lock_bets(floor, floor.tables_by_id[table], number, bets(rows))
