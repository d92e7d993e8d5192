"""What supervisors, the House and finance decide about claims."""

from dataclasses import dataclass
from typing import Protocol

from controller.errors import Code, LedgerUnavailable, Refused
from controller.ids import LinkId, MeterId
from controller.jackpots import house
from controller.jackpots.book import Book, Decided, replace
from controller.jackpots.claims import Claim, Doubt, Kind
from controller.jackpots.policy import Policy
from controller.jackpots.state import LinkState
from controller.money import displayed
from controller.services.deciding import Decide, Deciding
from controller.store.win_store import Done
from controller.wins.messages import Ordered, Outage, Paid, Proceed, Rejected, Undone, Verified


class History(Protocol):
    """What the ledger tells about the past."""

    def meter_before(self, link: LinkId, meter: str, instant: int) -> int | None:
        """A meter's balance after the last entry before an instant."""

    def claim(self, name: str) -> Claim | None:
        """A claim as the ledger last saw it."""


@dataclass(frozen=True, slots=True)
class HouseDesk:
    """Decisions by people."""

    deciding: Deciding
    history: History

    def link_of_claim(self, claim: str) -> LinkId:
        """The link of a claim's table."""
        known = self.deciding.floor.known()
        table = known.floor.tables_by_id.get(claim.partition(".")[0])
        if table is None or table.link is None:
            raise Refused(Code.CLAIM_UNKNOWN, f"claim {claim} is unknown")
        return LinkId(table.link)

    def verify(self, claim: str, body: Verified) -> tuple[LinkId, Done | None]:
        """A supervisor has seen the hand; the same word again changes nothing."""

        def decide(state: LinkState, policy: Policy) -> Decided | None:
            known = state.claims.get(claim) or self._final(claim)
            if known is not None and known.verified_by == body.by and not known.doubts:
                return None
            return house.verify(state, policy, claim, body.by, body.note)

        return self._decide(claim, decide)

    def reject(self, claim: str, body: Rejected) -> tuple[LinkId, Done | None]:
        """A claim is not what it said; the same word again changes nothing."""

        def decide(state: LinkState, policy: Policy) -> Decided | None:
            known = state.claims.get(claim) or self._final(claim)
            if known is not None and (known.status, known.note) == ("rejected", body.reason):
                return None
            return house.reject(state, policy, claim, body.by, body.reason)

        return self._decide(claim, decide)

    def pay(self, claim: str, body: Paid, *, by_table: str | None = None) -> tuple[LinkId, Done | None]:
        """An award was paid. A table may say so of its own small awards."""

        def decide(state: LinkState, policy: Policy) -> Decided | None:
            known = state.claims.get(claim) or self._final(claim)
            if known is not None and known.paid_by == body.by:
                return None
            if by_table is not None and known is not None:
                _own_and_small(known, by_table, policy)
            return house.pay(state, policy, claim, body.by, notice=body.notice, note=body.note)

        return self._decide(claim, decide)

    def order(self, link: LinkId, body: Ordered) -> Done | None:
        """The order of all claims that wait on a meter; the same order again changes nothing."""

        def decide(state: LinkState, policy: Policy) -> Decided | None:
            known = [state.claims.get(name) for name in body.claims]
            decisions = [claim.decision if claim else None for claim in known]
            first = decisions[0]
            again = first and decisions == [(first[0], place) for place in range(len(decisions))]
            if again and not any(claim.doubts for claim in known if claim):
                return None
            return house.order(state, policy, body.claims, body.by, body.reason)

        return self.deciding.decide(link, decide)

    def proceed(self, link: LinkId, body: Proceed) -> Done | None:
        """Go on without a silent table."""
        return self.deciding.decide(
            link, lambda state, policy: house.proceed(state, policy, body.table, body.by, body.reason)
        )

    def undo(self, link: LinkId, meter: str, body: Undone) -> Done | None:
        """Undo a meter's last settlement."""
        if self.deciding.floor.known().floor.meter_links.get(MeterId(meter)) != link:
            raise Refused(Code.METER_UNKNOWN, f"meter: link {link} has no meter {meter!r}")

        def decide(state: LinkState, policy: Policy) -> Decided | None:
            meant = [state.claims.get(name) for name in body.claims or ()]
            if meant and all(claim is not None and Doubt.UNDONE in claim.doubts for claim in meant):
                return None
            return house.undo(state, policy, meter, body.by, body.reason, body.claims or None)

        return self.deciding.decide(link, decide)

    def declare_outage(self, claim: str, body: Outage, began: int) -> tuple[LinkId, Done | None]:
        """Pay a claim on the value that was registered before a fault (5.17.1)."""
        link = self.link_of_claim(claim)

        def decide(state: LinkState, policy: Policy) -> Decided:
            known = house.find(state, claim)
            if known.kind is not Kind.MAJOR or not known.pending or known.meter is None:
                raise Refused(Code.CLAIM_STATE_WRONG, f"claim {claim} is not a pending major")
            if not self.deciding.is_ledgered(link, state.seq):
                # What is not there yet may have been registered before the fault.
                raise LedgerUnavailable(f"link {link}: the ledger has not reached entry {state.seq}")
            if began > known.latest:
                raise Refused(Code.CLAIM_STATE_WRONG, f"began_at: claim {claim} was dealt before it")
            value = self.history.meter_before(link, known.meter, began)
            if value is None:
                raise Refused(Code.CLAIM_STATE_WRONG, f"meter {known.meter} had no value before began_at")
            book = Book(state, policy)
            cap = state.pots[known.meter].cap
            shown = value if cap is None else min(value, cap)
            book.put(replace(known, outage_base_cents=displayed(shown)))
            detail: dict[str, object] = {"began": began, "value": value}
            return book.finish("outage_declared", by=[body.by], reason=body.reason, detail=detail)

        return link, self.deciding.decide(link, decide)

    def _decide(self, claim: str, decide: Decide) -> tuple[LinkId, Done | None]:
        link = self.link_of_claim(claim)
        return link, self.deciding.decide(link, decide)

    def _final(self, claim: str) -> Claim | None:
        return self.history.claim(claim)


def _own_and_small(claim: Claim, table: str, policy: Policy) -> None:
    if claim.table != table:
        raise Refused(Code.NOT_PERMITTED, f"claim {claim.id} is another table's")
    if claim.total_cents >= policy.hand_pay_from_cents:
        raise Refused(Code.NOT_PERMITTED, f"claim {claim.id} is paid by a named person of the House")
