"""A second telling: one link with one meter, in plain integers, sharing no line with the product.

While a win waits, the meter is the value that the sign shows and a *stream*: registrations (names of claims)
and contributions (micro-cents) as they came. A rejected claim's name is struck out, and what then leads the
list comes in as usual. A settlement pays claims in the order of the deal, each at the next name in the list.
An undone one puts back what it took off, with what came since behind it. The house is never counted: it is
whatever makes all accounts sum to zero. Who must wait for whom is asked of others (`held`): here is only
the order of the deal, and money. Times are microseconds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

CENT = WHOLE = 1_000_000
TWO_PEOPLE_FROM = 1_000_000 * CENT
UNDOABLE = 5
"""How many settlements can be undone, one after the other."""


class Pays(NamedTuple):
    """What a hand is paid: a share of what the sign shows, or a fixed amount from the meter."""

    share_ppm: int | None
    fixed_cents: int = 0
    wager_back: bool = False


@dataclass(frozen=True)
class Terms:
    """What the casino has decided about the link."""

    hands: dict[str, Pays]
    bet_cents: int
    rate_ppm: int
    reserve_ppm: int = 0
    reset_cents: int = 0
    opening_cents: int = 0
    cap_cents: int | None = None
    verification: bool = True
    confirmed: bool = False
    share: bool = False
    floor_is_reset: bool = False


@dataclass
class Round:
    """A recorded round: its place in history, its times, and where its contributions went."""

    place: int
    boxes: int
    closed: int
    raised: int
    over: int
    void: object = None


class Dealt(NamedTuple):
    """When a hand was dealt by our clock, and whether only the House can say what to make of that."""

    earliest: int
    latest: int
    doubtful: bool = False


@dataclass
class Claim:
    """A hand that wins from the meter; it was dealt between `earliest` and `latest` by our clock."""

    name: str
    table: str
    number: int
    box: int
    hand: str
    dealt: int
    earliest: int
    latest: int
    doubtful: bool
    place: int
    late: bool = False
    status: str = "registered"
    decided: tuple[object, int] | None = None
    amount: int | None = None
    verified_by: str = ""
    paid_by: tuple[str, ...] = ()

    @property
    def pending(self) -> bool:
        return self.status in ("registered", "verified")

    @property
    def prize(self) -> tuple[str, int, str]:
        """The same for equal hands of one table and round."""
        return self.table, self.number, self.hand


class Settled(NamedTuple):
    """A settlement: its claims, what it took off the stream, the balances before and after."""

    claims: list[Claim]
    taken: list[int | str]
    before: tuple[int, ...]
    after: tuple[int, ...]


class Model:
    """The link. Each command returns 'new', 'same' for a repetition, or the code of its refusal."""

    def __init__(self, terms: Terms, held: Callable[[Claim], bool] = lambda _: False) -> None:
        self.terms = terms
        self.held = held
        """Whether an earlier-dealt hand than this could still turn up."""
        self.rounds: dict[tuple[str, int], Round] = {}
        self.claims: dict[str, Claim] = {}
        self.settled: list[Settled] = []
        self.shown = terms.opening_cents * CENT
        self.stream: list[int | str] = []
        self.overflow = self.reserve = self.owed = self.staked = self.paid = 0
        self.payable: dict[str, int] = {}
        self.won_through = 0

    def _place(self) -> int:
        """A number that rises with every round and claim: which came before which."""
        return len(self.rounds) + len(self.claims) + 1

    @property
    def value(self) -> int:
        """The meter's balance: what it shows, and what accrues behind that."""
        return self.shown + sum(item for item in self.stream if isinstance(item, int))

    @property
    def points(self) -> list[str]:
        """The registrations that wait, by the claims that made them."""
        return [item for item in self.stream if isinstance(item, str)]

    def accounts(self) -> dict[str, int]:
        """Every account that is not empty."""
        held = {"bets": -self.staked, "meter": self.value, "overflow": self.overflow}
        held |= {"reserve": self.reserve, "owed": -self.owed, "paid": self.paid}
        held |= {f"payable/{name}": amount for name, amount in self.payable.items()}
        held["house"] = -sum(held.values())
        return {name: amount for name, amount in held.items() if amount}

    def _take_in(self, amount: int) -> int:
        """A contribution to a running meter repays, raises, overflows; how much overflowed."""
        repaid = min(self.owed, amount)
        self.owed -= repaid
        self.shown += amount - repaid
        cap = self.terms.cap_cents
        over = 0 if cap is None else max(0, self.shown - cap * CENT)
        self.shown -= over
        self.overflow += over
        return over

    def _flow(self) -> None:
        """What no registration holds back any more comes in as usual."""
        while self.stream and isinstance(self.stream[0], int):
            self._take_in(self.stream[0])
            del self.stream[0]
        self._take_in(0)

    def _fill_to(self, target: int) -> None:
        """Reset money: the reserve first, then the house."""
        missing = max(0, target - self.shown)
        self.reserve -= min(self.reserve, missing)
        self.shown += missing

    def bets(self, table: str, number: int, boxes: int, closed: int) -> str:
        """A round's locked bets."""
        known = self.rounds.get((table, number))
        if known is not None:
            return _again((known.boxes, known.closed) == (boxes, closed))
        stake = boxes * self.terms.bet_cents
        contribution = stake * self.terms.rate_ppm
        over = 0 if self.stream else self._take_in(contribution)
        if self.stream:
            self.stream.append(contribution)
        self.staked += stake * CENT
        self.reserve += stake * self.terms.reserve_ppm
        self.rounds[table, number] = Round(self._place(), boxes, closed, contribution - over, over)
        return "new"

    def void(self, table: str, number: int, when: int, by: tuple[str, ...]) -> str:
        """The round never was: its claims, its awards and its bets go back."""
        known = self.rounds.get((table, number))
        if known is None or known.void is not None:
            return _again(known.void == (when, by)) if known else "round_unknown"
        later = [n for t, n in self.rounds if t == table and n > number]
        if later and when >= self.rounds[table, min(later)].closed:
            return "round_stands"
        own = [c for c in self.claims.values() if (c.table, c.number) == (table, number)]
        undone, refusal = self._taking_back(own, by)
        if refusal:
            return refusal
        for _ in range(undone):
            self._unsettle()
        for claim in own:
            if claim.pending:
                self._strike(claim, "cancelled")
        known.void = (when, by)
        stake = known.boxes * self.terms.bet_cents
        self.staked -= stake * CENT
        self.reserve -= min(self.reserve, stake * self.terms.reserve_ppm)
        self.overflow -= min(self.overflow, known.over)
        # A sign never falls: what raised it is owed; what has been won since is the house's.
        self.owed += known.raised if known.place > self.won_through else 0
        return "new"

    def _taking_back(self, own: list[Claim], by: tuple[str, ...]) -> tuple[int, str]:
        """How many settlements rest on a round's claims or their registrations, and why they must stand."""
        used = {c.name for c in own if c.pending} - set(self.points)
        used |= {c.name for c in own if c.status in ("awarded", "paid")}
        resting = [n for n, s in enumerate(self.settled) if used & {*s.taken, *(c.name for c in s.claims)}]
        if used and not by:
            return 0, "award_made"
        if any(c.status == "paid" for c in own) and len(set(by)) < 2:
            return 0, "second_person_needed"
        undone = self.settled[min(resting) :] if resting else []
        if any(c.status == "paid" and c not in own for s in undone for c in s.claims):
            return 0, "award_paid"
        known = {name for s in undone for name in (*s.taken, *(c.name for c in s.claims))}
        return len(undone), "" if used <= known else "nothing_to_undo"

    def win(self, table: str, number: int, box: int, hand: str, dealt: int, when: Dealt) -> str:
        """A table says that a hand wins."""
        bets = self.rounds.get((table, number))
        if bets is None:
            return "round_unknown"
        name = f"{table}.{number}.{box}"
        known = self.claims.get(name)
        if known is not None:
            return _again((known.hand, known.dealt) == (hand, dealt))
        if bets.void is not None or box > bets.boxes:
            return "round_voided" if bets.void is not None else "box_without_bets"
        claim = Claim(name, table, number, box, hand, dealt, *when, self._place())
        settled = [c for c in self.claims.values() if c.amount is not None]
        claim.late = any(c.latest >= when.earliest and not _in_turn(c, claim) for c in settled)
        self.claims[name] = claim
        self.stream.append(name)
        return "new"

    def verify(self, name: str, by: str) -> str:
        """A supervisor has seen the hand."""
        claim = self.claims[name]
        if claim.verified_by == by or claim.status != "registered":
            return "same" if claim.verified_by == by else "claim_state_wrong"
        claim.status, claim.verified_by = "verified", by
        return "new"

    def reject(self, name: str) -> str:
        """The hand is not what was said."""
        claim = self.claims[name]
        if not claim.pending:
            return "same" if claim.status == "rejected" else "claim_state_wrong"
        if name not in self.stream:
            return "award_made"  # another claim was paid on its registration
        self._strike(claim, "rejected")
        return "new"

    def _strike(self, claim: Claim, status: str) -> None:
        """Its registration goes, as if it had never come."""
        claim.status, claim.doubtful = status, False
        self.stream.remove(claim.name)
        self._flow()

    def order(self, names: list[str]) -> str:
        """The House's word on everything that waits."""
        decided = [self.claims[name].decided for name in names]
        again = decided[0] and decided == [(decided[0][0], place) for place in range(len(names))]
        if again and not self.needs_house() & set(names):
            return "same"
        if sorted(names) != sorted(c.name for c in self.pending()):
            return "order_wrong"
        decision = object()
        for place, name in enumerate(names):
            self.claims[name].decided, self.claims[name].doubtful = (decision, place), False
        return "new"

    def pay(self, name: str, by: tuple[str, ...]) -> str:
        """People have handed an award over."""
        claim = self.claims[name]
        if claim.paid_by == by or claim.status != "awarded":
            return "same" if claim.paid_by == by else "claim_state_wrong"
        if self.payable[name] >= TWO_PEOPLE_FROM and len(set(by)) < 2:
            return "second_person_needed"
        self.paid += self.payable.pop(name)
        claim.status, claim.paid_by = "paid", by
        return "new"

    def pending(self) -> list[Claim]:
        return [c for c in self.claims.values() if c.pending]

    def _before(self, one: Claim, other: Claim) -> bool:
        """Whether it is certain that one hand was dealt before another."""
        if one.decided and other.decided and one.decided[0] is other.decided[0]:
            return one.decided[1] < other.decided[1]
        if one.table == other.table:
            return _in_turn(one, other)
        return not self.terms.confirmed and one.latest < other.earliest

    def in_order(self) -> tuple[list[Claim], list[Claim]]:
        """Claims whose place is certain, and those behind them that nobody but the House can order."""
        certain, rest = [], self.pending()
        while first := [c for c in rest if all(c is o or self._before(c, o) for o in rest)]:
            certain += first
            rest.remove(first[0])
        return certain, rest

    def needs_house(self) -> set[str]:
        """Claims that wait for the House: doubtful ones, and whatever overlaps."""
        rest = self.in_order()[1]
        pairs = [(a, b) for a in rest for b in rest if a is not b]
        overlapping = {a.name for a, b in pairs if not self._before(a, b) and not self._before(b, a)}
        return {c.name for c in self.pending() if c.doubtful} | (overlapping or {c.name for c in rest})

    def due(self) -> list[Claim]:
        """What can be settled now: from the first dealt on, all that nothing can come before any more."""
        certain, rest = self.in_order()
        ready = 0
        for claim in certain:
            # A registration whose own claim is unverified may still be struck out: nothing is paid on it.
            unseen = "registered" in (claim.status, self.claims[self.points[ready]].status)
            if self.held(claim) or claim.doubtful or (unseen and self.terms.verification):
                break
            ready += 1
        behind = {c.prize for c in (*certain[ready:], *rest)} if self.terms.share else set()
        while ready and certain[ready - 1].prize in behind:
            ready -= 1
        return certain[:ready]

    def _balances(self) -> tuple[int, ...]:
        return self.shown, self.overflow, self.reserve, self.owed, self.won_through

    def attend(self) -> list[str]:
        """Settle what is due; which claims were awarded."""
        claims = self.due()
        before, stream = self._balances(), list(self.stream)
        self.owed = 0 if claims else self.owed  # it was on the sign and has been won: the house's
        while left := [c for c in claims if c.pending]:
            equal = [c for c in left if c.prize == left[0].prize and self._shares(c)]
            self._award(equal or left[:1])
        if claims:
            taken = stream[: len(stream) - len(self.stream)]
            self.won_through = max(self.claims[item].place for item in taken if isinstance(item, str))
            self.settled = [*self.settled, Settled(claims, taken, before, self._balances())][-UNDOABLE:]
        return [c.name for c in claims]

    def _shares(self, claim: Claim) -> bool:
        return self.terms.share and self.terms.hands[claim.hand].share_ppm is not None

    def _award(self, equal: list[Claim]) -> None:
        """One award, in equal parts, on what the sign shows at the next registration."""
        pays = self.terms.hands[equal[0].hand]
        cents, reset = self.shown // CENT, self.terms.reset_cents * CENT
        whole = pays.fixed_cents if pays.share_ppm is None else cents * pays.share_ppm // WHOLE
        for claim in equal:
            claim.status, claim.amount = "awarded", whole // len(equal)
            self.shown -= min(claim.amount, self.shown // CENT) * CENT
            wager = self.terms.bet_cents if pays.wager_back else 0
            self.payable[claim.name] = (claim.amount + wager) * CENT
        if pays.share_ppm == WHOLE:
            self._fill_to(self.shown + reset)
            self.shown, self.overflow = self.shown + self.overflow, 0
        elif self.terms.floor_is_reset:
            self._fill_to(reset)
        for _ in equal:
            del self.stream[0]
            self._flow()

    def undo(self, names: list[str], by: tuple[str, ...]) -> str:
        """Two people take the last settlement back, which these claims were; they wait for the House."""
        if all(self.claims[name].doubtful for name in names):
            return "same"
        if len(set(by)) < 2:
            return "second_person_needed"
        claims = self.settled[-1].claims if self.settled else []
        if [c.name for c in claims] != names:
            return "nothing_to_undo"
        if any(c.status == "paid" for c in claims):
            return "award_paid"
        self._unsettle()
        for claim in claims:
            claim.doubtful, claim.decided = True, None
        return "new"

    def _unsettle(self) -> None:
        """As if it had not been settled: what came since, overflow included, accrues behind what it took."""
        claims, taken, before, after = self.settled.pop()
        risen, spilt = self.shown - after[0], self.overflow - after[1]
        self.stream = [*taken, risen + max(0, spilt), *self.stream]
        self.shown, self.overflow = before[0], max(0, before[1] + min(0, spilt))
        self.reserve += before[2] - after[2]
        self.owed += before[3]
        self.won_through = before[4]
        for claim in claims:
            self.payable.pop(claim.name, None)
            claim.status, claim.amount, claim.paid_by = "verified", None, ()


def _in_turn(one: Claim, other: Claim) -> bool:
    """Whether one table dealt a hand before another."""
    turns = [(c.number, c.dealt, c.box) for c in (one, other)]
    return one.table == other.table and turns == sorted(turns)


def _again(same: bool) -> str:
    return "same" if same else "exists_with_different_body"
