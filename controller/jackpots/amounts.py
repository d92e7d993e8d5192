"""What each claim is paid, and what becomes of the meter (MLP 4.7, TCP 4.9).

The k-th claim in the order of the deal is paid on the value as of the k-th registration: the first on the
frozen value, the next on what the sign would show after the award before it, with what accrued up to the
next registration. So neither the arrival of claims nor a slow supervisor moves money.

Amounts are micro-cents unless their name says cents. Nothing depends on bets that come in meanwhile: they
raise the meter's balance, and a settlement is a difference that is applied to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from controller.errors import LedgerMismatch
from controller.jackpots.claims import Claim
from controller.money import PPM, displayed, to_micro


@dataclass(frozen=True, slots=True)
class Registration:
    """The instant at which a claim reached us: its number in the journal and the meter's balance then."""

    claim: str
    seq: int
    value: int


@dataclass(frozen=True, slots=True)
class Pot:
    """A meter's money and its terms."""

    id: str
    value: int
    overflow: int
    reserve: int
    owed: int
    reset: int
    cap: int | None
    cycle: int
    registrations: tuple[Registration, ...] = ()
    settled_to: int = 0
    """The latest deal time that was settled: a claim dealt before it comes late."""
    won_through: int = 0
    """The last registration that was settled: bets before it have been won."""
    last_settlement: str = ""
    """What it takes to undo the last settlement."""
    shown_before: str = ""
    """What signs show until the ledger has entry `effect_seq`."""
    effect_seq: int = 0

    @property
    def frozen(self) -> bool:
        """Whether a claim waits."""
        return bool(self.registrations)


@dataclass(frozen=True, slots=True)
class Award:
    """What one claim is settled to."""

    claim: str
    amount_cents: int
    from_meter_cents: int
    """The rest is the house's: a fixed award or a value before a fault that the meter does not hold."""
    shown_cents: int
    """What the sign showed, or would have shown, for it."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """Awards, and the differences that they make to the meter's accounts."""

    awards: tuple[Award, ...]
    value: int
    overflow: int
    reserve: int
    owed: int
    house: int
    """What the house puts in: resets, owed contributions, what the meter lacked; beside returned wagers."""
    cycles: int
    remaining: tuple[Registration, ...]
    """Registrations that still wait, on the meter's new balance."""


class _Meter:
    """A meter while it is being settled."""

    def __init__(self, pot: Pot) -> None:
        self.pot = pot
        self.value = pot.registrations[0].value
        self.overflow = pot.overflow
        self.reserve = pot.reserve
        self.house = 0
        self.cycles = 0
        self._split_at_cap()

    def accrue(self, amount: int) -> None:
        """What came in up to the next registration."""
        self.value += amount
        self._split_at_cap()

    def _split_at_cap(self) -> None:
        if self.pot.cap is not None and self.value > self.pot.cap:
            self.overflow += self.value - self.pot.cap
            self.value = self.pot.cap

    def pay(self, cents: int) -> int:
        """Take an award from the meter as far as it goes; the cents that it gave."""
        taken = min(cents, displayed(self.value))
        self.value -= to_micro(taken)
        self.house += to_micro(cents - taken)
        return taken

    def top_up(self, target: int) -> None:
        """Bring the meter up to a value: from the reserve first, then from the house."""
        missing = max(0, target - self.value)
        from_reserve = min(self.reserve, missing)
        self.reserve -= from_reserve
        self.house += missing - from_reserve
        self.value += missing

    def reset(self) -> None:
        """Begin a new cycle: reset value, the fraction of a cent, and what overflowed, up to the cap."""
        self.cycles += 1
        self.top_up(self.value + self.pot.reset)
        room = self.overflow if self.pot.cap is None else min(self.overflow, self.pot.cap - self.value)
        self.value += max(0, room)
        self.overflow -= max(0, room)


def settle(
    pot: Pot, claims: Sequence[Claim], *, share_same_round: bool = False, floor_is_reset: bool = False
) -> Settlement:
    """Pay claims in the given order; as many registrations are used up, the earliest first."""
    if not 0 < len(claims) <= len(pot.registrations):
        raise LedgerMismatch(f"meter {pot.id}: {len(claims)} claims, {len(pot.registrations)} registrations")
    meter = _Meter(pot)
    points = [registration.value for registration in pot.registrations]
    used = 0
    awards: list[Award] = []
    for group in _groups(claims, together=share_same_round):
        if used:
            meter.accrue(points[used] - points[used - 1])
        awards += _pay_group(meter, group)
        if group[0].share_ppm == PPM:
            meter.reset()
        elif floor_is_reset:
            meter.top_up(pot.reset)
        used += 1
        for _ in group[1:]:
            meter.accrue(points[used] - points[used - 1])
            used += 1
    remaining: tuple[Registration, ...] = ()
    anchor = points[used - 1]
    if used < len(points):
        meter.accrue(points[used] - points[used - 1])
        anchor = points[used]
        moved = meter.value - anchor
        remaining = tuple(replace(r, value=r.value + moved) for r in pot.registrations[used:])
    return Settlement(
        awards=tuple(awards),
        value=meter.value - anchor,
        overflow=meter.overflow - pot.overflow,
        reserve=meter.reserve - pot.reserve,
        # What was owed for returned bets was on the sign and has been won: the house bears it.
        owed=-pot.owed,
        house=meter.house + pot.owed,
        cycles=meter.cycles,
        remaining=remaining,
    )


def _groups(claims: Sequence[Claim], *, together: bool) -> list[list[Claim]]:
    """Claims that share one award: each alone, or equal hands of one table and round."""
    if not together:
        return [[claim] for claim in claims]
    same = groupby(claims, key=lambda claim: (claim.table, claim.round, claim.hand))
    return [part for _, group in same for part in _parts(list(group))]


def _parts(group: list[Claim]) -> list[list[Claim]]:
    """A share of the meter is divided; a fixed amount is each hand's own."""
    return [group] if group[0].share_ppm is not None else [[claim] for claim in group]


def _pay_group(meter: _Meter, group: list[Claim]) -> list[Award]:
    """One award in equal parts; cents that do not divide stay in the meter."""
    shown = displayed(meter.value)
    first = group[0]
    if first.share_ppm is None:
        whole = first.amount_cents or 0
    else:
        base = shown if first.outage_base_cents is None else first.outage_base_cents
        whole = base * first.share_ppm // PPM
    part = whole // len(group)
    return [Award(claim.id, part, meter.pay(part), shown) for claim in group]


def shown_while_frozen(pot: Pot) -> int:
    """What the sign shows, in micro-cents: the value at the earliest registration, within the cap."""
    value = pot.registrations[0].value
    return value if pot.cap is None else min(value, pot.cap)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A registration taken out: differences to the meter's accounts, and what still waits."""

    value: int
    overflow: int
    owed: int
    remaining: tuple[Registration, ...]


def withdraw(pot: Pot, claim: str) -> Withdrawal:
    """Take a claim's registration out, as if it had never come.

    The freeze moves to the earliest that remains. What accrued between the two then counts as usual: it
    repays what the meter owes, and what passes the cap overflows. With none left the meter runs on; the
    store does the same with all that has accrued.
    """
    own = next((r for r in pot.registrations if r.claim == claim), pot.registrations[0])
    left = tuple(r for r in pot.registrations if r is not own)
    if not left or own is not pot.registrations[0]:
        return Withdrawal(0, 0, 0, left)
    accrued = left[0].value - own.value
    repaid = min(pot.owed, accrued)
    over = 0 if pot.cap is None else max(0, left[0].value - repaid - pot.cap)
    moved = repaid + over
    return Withdrawal(
        value=-moved,
        overflow=over,
        owed=-repaid,
        remaining=tuple(replace(r, value=r.value - moved) for r in left),
    )


def parse_registrations(text: str) -> tuple[Registration, ...]:
    """Registrations as the store keeps them.

    >>> parse_registrations("T-1.7.3=12=5000000")
    (Registration(claim='T-1.7.3', seq=12, value=5000000),)
    """
    rows = (part.split("=") for part in text.split(";") if part)
    return tuple(Registration(claim, int(seq), int(value)) for claim, seq, value in rows)


def format_registrations(registrations: Sequence[Registration]) -> str:
    """The same as text."""
    return ";".join(f"{r.claim}={r.seq}={r.value}" for r in registrations)
