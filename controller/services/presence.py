"""Tables' presence: heartbeats, rounds that are over, tables that close, what the House suspends."""

from dataclasses import dataclass

import msgspec
from msgspec import UNSET

from controller.clock import to_text
from controller.errors import Code, Refused
from controller.ids import LinkId
from controller.jackpots.book import Book, Decided
from controller.jackpots.claims import Status
from controller.jackpots.clocks import Clock, measure
from controller.jackpots.policy import Policy
from controller.jackpots.state import LinkState
from controller.services.deciding import Deciding, bounded
from controller.services.floor_in_force import KnownFloor
from controller.services.round_lookup import RoundLookup
from controller.store.win_store import Done, NamedRound
from controller.wins.messages import (
    ClockView,
    Heartbeat,
    HeartbeatAnswer,
    LinkSuspension,
    Payout,
    Suspension,
)


@dataclass(frozen=True, slots=True)
class Presence:
    """Who is here, and what they may take."""

    deciding: Deciding
    lookup: RoundLookup

    def heartbeat(self, name: str, body: Heartbeat) -> HeartbeatAnswer:
        """A table is here: its frontier moves on, its clock is measured, and it learns what is to be paid."""
        sent_at = bounded(body.sent_at, "sent_at")
        rounds = [NamedRound(r.round, bounded(r.bets_closed_at, "rounds")) for r in body.rounds]

        def attempt(known: KnownFloor) -> HeartbeatAnswer:
            link = known.floor.link_of(known.table(name))
            policy = known.floor.policy_of(link)
            before = self.deciding.wins.state(link)
            measured = _measured(body, policy)
            table = before.tables.get(name)
            clock = measured or (table.clock if table else None)
            beat = self.deciding.wins.heartbeat(known.address(link), name, sent_at, measured, rounds, policy)
            if any(pot.frozen for pot in before.pots.values()):
                # A claim may have waited for just this.
                self.deciding.nudge(link)
            return HeartbeatAnswer(
                table=name,
                received_at=to_text(before.read_at),
                answered_at=to_text(beat.now),
                taken=beat.taken,
                next_round=beat.highest + 1,
                clock=ClockView(offset_micros=clock.offset, uncertainty_micros=clock.uncertainty)
                if clock
                else None,
                suspension=(table.suspension if table else "") or before.suspension,
                boxes_off=list(table.boxes_off) if table else [],
                notice=(table.notice if table else "") or before.notices.get("", ""),
                payouts=_payouts(before, name),
            )

        return self.deciding.floor.with_floor(attempt)

    def close_round(self, name: str, number: int) -> tuple[LinkId, Done | None]:
        """A round is over and brings no more claims."""
        link = self._link(name)

        def decide(state: LinkState, policy: Policy) -> Decided | None:
            table = state.tables.get(name)
            if table is None or all(r.number != number for r in table.open_rounds):
                self.lookup.look(link, name, number)  # refuses one that was never heard of
                return None
            book = Book(state, policy)
            book.change.close_round(name, number)
            detail: dict[str, object] = {"table": name, "round": number}
            return book.finish("round_closed", by=[name], reason="", detail=detail)

        return link, self.deciding.decide(link, decide)

    def close_table(self, name: str) -> tuple[LinkId, Done | None]:
        """A table closes: it holds no claim of others back any more. Its open rounds must be over."""
        link = self._link(name)

        def decide(state: LinkState, policy: Policy) -> Decided | None:
            table = state.tables.get(name)
            if table is None or not table.live:
                return None
            if table.open_rounds:
                number = table.open_rounds[0].number
                raise Refused(Code.ROUND_OPEN, f"table {name}: round {number} is not over")
            book = Book(state, policy)
            book.change.close_table(name)
            return book.finish("table_closed", by=[name], reason="", detail={"table": name})

        return link, self.deciding.decide(link, decide)

    def suspend(self, name: str, body: Suspension) -> tuple[LinkId, Done | None]:
        """Close a table, disallow boxes, or take no progressive bets there (5.17.2)."""
        link = self._link(name)
        state_text = "" if body.state == "running" else body.state

        def decide(state: LinkState, policy: Policy) -> Decided:
            book = Book(state, policy)
            book.change.table(name, "suspension", state_text)
            book.change.table(name, "boxes_off", ",".join(str(box) for box in sorted(set(body.boxes_off))))
            book.change.table(name, "notice", body.notice)
            shown = body.notice or _SAID[body.state] if body.state != "running" or body.boxes_off else ""
            book.change.link("notices", _notices(state, name, shown))
            detail: dict[str, object] = {
                "table": name,
                "state": body.state,
                "boxes_off": body.boxes_off,
                "notice": body.notice,
            }
            return book.finish("table_suspended", by=[body.by], reason=body.reason, detail=detail)

        return link, self.deciding.decide(link, decide)

    def suspend_link(self, link: LinkId, body: LinkSuspension) -> Done | None:
        """Whether a link takes progressive bets at all."""
        state_text = "" if body.state == "running" else body.state

        def decide(state: LinkState, policy: Policy) -> Decided:
            book = Book(state, policy)
            book.change.link("suspension", state_text)
            shown = body.notice or _SAID[body.state] if body.state != "running" else ""
            book.change.link("notices", _notices(state, "", shown))
            detail: dict[str, object] = {"state": body.state, "notice": body.notice}
            return book.finish("link_suspended", by=[body.by], reason=body.reason, detail=detail)

        return self.deciding.decide(link, decide)

    def _link(self, name: str) -> LinkId:
        known = self.deciding.floor.known()
        table = known.table(name)
        return known.floor.link_of(table)


def _measured(body: Heartbeat, policy: Policy) -> Clock | None:
    """The clock by the last exchange; one that says less than knowing nothing is left out."""
    if body.last_exchange is UNSET:
        return None
    last = body.last_exchange
    times = (last.sent_at, last.received_at, last.answered_at, last.got_at)
    first, second, third, fourth = (bounded(time, "last_exchange") for time in times)
    clock = measure(first, second, third, fourth)
    return clock if clock is not None and clock.uncertainty <= policy.unmeasured_clock else None


_SAID = {
    "closed": "Closed",
    "no_progressive": "No progressive bets",
    "running": "No bets on some boxes",
}


def _notices(state: LinkState, whose: str, notice: str) -> str:
    """What signs say about the link and its tables, with one notice changed."""
    others = {name: text for name, text in state.notices.items() if name != whose}
    return msgspec.json.encode(others | ({whose: notice} if notice else {}), order="sorted").decode()


def _payouts(state: LinkState, table: str) -> list[Payout]:
    """What is to be paid at the table, once the ledger has it."""
    if state.version > state.released:
        return []
    return [
        Payout(claim=c.id, round=c.round, box=c.box, amount_cents=c.total_cents)
        for c in state.claims.values()
        if c.table == table and c.status is Status.AWARDED
    ]
