"""One decision in the making: a link's claims as they will be, and the change that makes them so.

Whatever alters the claims of a meter ends in `finish`, which orders them anew, says which of them wait for
the House, and tells signs what is pending.
"""

import dataclasses

import msgspec

from controller.jackpots.amounts import Pot, Settlement, settle, shown_while_frozen, withdraw
from controller.jackpots.change import Change, decision_text
from controller.jackpots.claims import FINAL, Claim, Doubt, Kind, Status
from controller.jackpots.deal_order import DealOrder, order_claims
from controller.jackpots.policy import Policy
from controller.jackpots.settled import read_settled
from controller.jackpots.state import LinkState

replace = msgspec.structs.replace


class Decided(msgspec.Struct, frozen=True):
    """A decision, ready for the store."""

    version: int
    kind: str
    facts: str
    words: list[str]
    round: str = ""
    """`<table>/<round>` whose result it goes by."""
    result_seq: int | None = None


class Waiting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim as a sign may show it, in the order in which it will be paid."""

    id: str
    table: str
    round: int
    box: int
    hand: str
    share_ppm: int | None = None
    amount_cents: int | None = None
    outage_base_cents: int | None = None

    def claim(self) -> Claim:
        """What it takes to work out the value that comes next."""
        return Claim(
            kind=Kind.MAJOR,
            rule="",
            status=Status.VERIFIED,
            **{name: getattr(self, name) for name in self.__struct_fields__},
        )


read_waiting = msgspec.json.Decoder(list[Waiting]).decode


class Book:
    """Claims of a link during one decision."""

    def __init__(self, state: LinkState, policy: Policy) -> None:
        self.state = state
        self.policy = policy
        self.change = Change()
        self.claims = dict(state.claims)
        self.pots = dict(state.pots)
        """Meters as they will be, as far as later steps of the same decision need it."""
        self._meters: set[str] = set()

    def put(self, claim: Claim) -> None:
        """A claim as it is from now on."""
        begins_and_ends = claim.status in FINAL and claim.id not in self.claims
        self.claims[claim.id] = claim
        if begins_and_ends:
            self.change.note(claim)
        else:
            self.change.claim(claim)
        if claim.kind is Kind.MAJOR and claim.meter is not None:
            self._meters.add(claim.meter)

    def pending(self, meter: str) -> list[Claim]:
        """The majors that wait on a meter, as they are now."""
        return [c for c in self.claims.values() if c.kind is Kind.MAJOR and c.meter == meter and c.pending]

    def order(self, meter: str) -> DealOrder:
        """The majors that wait on a meter, in the order of their deal."""
        confirm = self.policy.cross_table_order == "confirmed"
        return order_claims(self.pending(meter), confirm_between_tables=confirm)

    def register(self, claim: Claim) -> None:
        """A major reaches us: the first freezes its meter."""
        meter = claim.meter or ""
        pot = self.pots[meter]
        self.put(replace(claim, late=self._is_late(claim, pot)))
        self.change.register(meter, claim.id)
        self.effect(pot)

    def _is_late(self, claim: Claim, pot: Pot) -> bool:
        """Whether hands that may have been dealt after it have been settled. Its own table's were not."""
        if claim.earliest > pot.settled_to:
            return False
        last = read_settled(pot.last_settlement).claims if pot.last_settlement else []
        settled = [self.claims[name] for name in last if name in self.claims]
        later = [c for c in settled if c.latest >= claim.earliest]
        own = (claim.round, claim.dealt_at)
        return not later or any(c.table != claim.table or (c.round, c.dealt_at) > own for c in later)

    def withdraw(self, claim: Claim, status: Status, note: str) -> None:
        """A claim is rejected or cancelled: its registration goes, as if it had never come."""
        was_pending = claim.pending
        self.put(replace(claim, status=status, doubts=[], note=note))
        if claim.kind is not Kind.MAJOR or not was_pending:
            return
        pot = self.pots[claim.meter or ""]
        without = withdraw(pot, claim.id)
        self.effect(pot)
        self.change.registrations(pot.id, without.remaining)
        if not without.remaining:
            self.change.thaw(pot.id, pot.registrations[0].value)
        else:
            self.change.move(pot.id, "value", without.value)
            self.change.move(pot.id, "overflow", without.overflow)
            self.change.move(pot.id, "owed", without.owed)
        self.pots[pot.id] = dataclasses.replace(
            pot,
            value=pot.value + without.value,
            overflow=pot.overflow + without.overflow,
            owed=pot.owed + without.owed,
            registrations=without.remaining,
        )

    def settle(self, pot: Pot, claims: list[Claim]) -> Settlement:
        """Work out what claims are paid, by the link's policy."""
        return settle_by(self.policy, pot, claims)

    def effect(self, pot: Pot) -> None:
        """Signs will show something else; until the ledger has it, what they show now."""
        before = self.state.pots[pot.id]
        shown = before.shown_before
        if before.effect_seq <= self.state.released:
            pot = before
            shown = f"won:{shown_while_frozen(pot)}" if pot.frozen else "running:"
        self.change.effect(pot.id, shown)

    def finish_claims(self) -> None:
        """Order the claims of every meter that was touched; mark those that only the House can order."""
        for meter in sorted(self._meters):
            order = self.order(meter)
            for claim in order.claims:
                doubts: list[Doubt] = [d for d in claim.doubts if d is not Doubt.ORDER]
                if claim.id in order.undecided:
                    doubts.append(Doubt.ORDER)
                if doubts != claim.doubts:
                    self.put(replace(claim, doubts=doubts))
            waiting = [_waiting(claim) for claim in self.order(meter).claims]
            self.change.meter(meter, "waiting", msgspec.json.encode(waiting).decode())

    def finish(self, kind: str, *, by: list[str], reason: str, detail: dict[str, object]) -> Decided:
        """The decision as the store takes it."""
        self.finish_claims()
        facts = decision_text(self.change, by, reason, detail)
        return Decided(self.state.version, kind, facts, self.change.words())


def settle_by(policy: Policy, pot: Pot, claims: list[Claim]) -> Settlement:
    """What claims are paid under a policy: awards and announcements are worked out alike."""
    return settle(
        pot,
        claims,
        share_same_round=policy.same_round == "share",
        floor_is_reset=policy.floor == "reset",
    )


def _waiting(claim: Claim) -> Waiting:
    return Waiting(**{name: getattr(claim, name) for name in Waiting.__struct_fields__})


def next_value(pot: Pot, waiting: list[Waiting], policy: Policy) -> int:
    """What the sign will show when all that waits is settled, in micro-cents."""
    settled = settle_by(policy, pot, [item.claim() for item in waiting])
    value = pot.value + settled.value
    return value if pot.cap is None else min(value, pot.cap)
