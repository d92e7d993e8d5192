"""The order in which hands were dealt, as far as the clocks can tell.

One table's hands have one clock: its own order is certain. Between tables, deal times are intervals; where
two overlap, nobody but the House may say which came first (TCP 4.9.1, MLP 4.7.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from controller.jackpots.claims import Claim


@dataclass(frozen=True, slots=True)
class DealOrder:
    """Claims of one meter in the order of their deal: first the certain ones, then a proposal."""

    claims: tuple[Claim, ...]
    certain: int
    """How many from the beginning are in their place for sure."""
    undecided: frozenset[str]
    """Those whose place only the House can tell."""


def order_claims(claims: Sequence[Claim], *, confirm_between_tables: bool = False) -> DealOrder:
    """Order claims; those that the clocks do not order are proposed by their middle times.

    `confirm_between_tables`: between tables only a decision of the House orders, never a clock.
    """

    def precedes(first: Claim, second: Claim) -> bool:
        return _precedes(first, second, by_clock=not confirm_between_tables)

    rest = sorted(claims, key=_middle)
    ordered: list[Claim] = []
    while True:
        first = next((c for c in rest if all(precedes(c, o) for o in rest if o is not c)), None)
        if first is None:
            break
        ordered.append(first)
        rest.remove(first)
    overlapping = {
        c.id for c in rest if any(o is not c and not precedes(c, o) and not precedes(o, c) for o in rest)
    }
    # No two overlap and still there is no first: a decision of the House and a later claim contradict
    # each other, so the whole group is open again.
    undecided = overlapping or {claim.id for claim in rest}
    return DealOrder((*ordered, *rest), len(ordered), frozenset(undecided))


def _precedes(first: Claim, second: Claim, *, by_clock: bool) -> bool:
    """Whether it is certain that one hand was dealt before another."""
    if first.decision and second.decision and first.decision[0] == second.decision[0]:
        return first.decision[1] < second.decision[1]
    if first.table == second.table:
        # In one round clockwise from the first dealt (MLP 4.7.1): by the deal, then by the box.
        return (first.round, first.dealt_at, first.box) < (second.round, second.dealt_at, second.box)
    return by_clock and first.latest < second.earliest


def _middle(claim: Claim) -> tuple[int, str, int, int]:
    return claim.earliest + claim.latest, claim.table, claim.round, claim.box
