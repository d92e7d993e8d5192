"""Settling what is due, and undoing it: the heart.

A claim is settled when no earlier-dealt one can still turn up, when it has been verified, and when nothing
about it waits for the House. All that is due on a meter is settled in one step.
"""

import dataclasses

import msgspec

from controller.errors import Code, Refused
from controller.jackpots.amounts import Registration, Settlement
from controller.jackpots.book import Book, Decided, replace
from controller.jackpots.claims import FINAL, Claim, Kind, Status
from controller.jackpots.policy import Policy
from controller.jackpots.settled import UNDO_DEPTH, SettledRecord, cut_record, read_settled
from controller.jackpots.state import LinkState
from controller.jackpots.watermark import TableState, holding_back
from controller.money import to_micro


def is_verified(claim: Claim, policy: Policy) -> bool:
    """Whether a supervisor's word is there, where it is asked for."""
    return claim.status is not Status.REGISTERED or policy.verification == "not_required"


def waits_for(claim: Claim, state: LinkState, policy: Policy) -> list[str]:
    """What a pending claim still waits for; nothing means that it is due."""
    found = [] if is_verified(claim, policy) else ["verification"]
    found += [f"house: {doubt}" for doubt in claim.doubts]
    return found + [f"table: {name}" for name in holding_back(claim, state.tables.values())]


def due(book: Book, meter: str) -> list[Claim]:
    """The longest beginning of a meter's claims that can be settled now."""
    order = book.order(meter)
    ready = 0
    for claim in order.claims[: order.certain]:
        if waits_for(claim, book.state, book.policy):
            break
        ready += 1
    # A registration may still be taken out while its own claim is unverified, and those behind it would
    # move up: what is paid on it waits as well.
    used = book.pots[meter].registrations
    while ready and not all(_stands(book, registration) for registration in used[:ready]):
        ready -= 1
    if book.policy.same_round == "share":
        while 0 < ready < len(order.claims) and _same_award(order.claims[ready - 1], order.claims[ready]):
            ready -= 1
    return list(order.claims[:ready])


def _stands(book: Book, registration: Registration) -> bool:
    claim = book.claims.get(registration.claim)
    return claim is None or not claim.pending or is_verified(claim, book.policy)


def _same_award(first: Claim, second: Claim) -> bool:
    return (first.table, first.round, first.hand) == (second.table, second.round, second.hand)


def settle_due(state: LinkState, policy: Policy) -> Decided | None:
    """Settle what is due on one meter of a link; None where nothing is."""
    for meter, pot in state.pots.items():
        if not pot.frozen:
            continue
        book = Book(state, policy)
        claims = due(book, meter)
        if claims:
            return _settle(book, meter, claims)
    return None


def _settle(book: Book, meter: str, claims: list[Claim]) -> Decided:
    pot, change = book.pots[meter], book.change
    settled = book.settle(pot, claims)
    used = pot.registrations[: len(claims)]
    for claim, award in zip(claims, settled.awards, strict=True):
        book.put(
            replace(
                claim,
                status=Status.AWARDED,
                amount_cents=award.amount_cents,
                shown_cents=award.shown_cents,
                doubts=[],
            )
        )
        change.post(f"payable/{claim.id}", to_micro(award.amount_cents + claim.wager_cents))
    wagers = to_micro(sum(claim.wager_cents for claim in claims))
    _move(book, meter, settled, sign=1)
    change.post("house", -settled.house - wagers)
    change.meter(meter, "cycle", str(pot.cycle + settled.cycles))
    change.meter(meter, "settled_to", str(max([pot.settled_to, *(claim.latest for claim in claims)])))
    change.meter(meter, "won_through", str(used[-1].seq))
    before = read_settled(pot.last_settlement) if pot.last_settlement else None
    record = SettledRecord(
        claims=[claim.id for claim in claims],
        used=list(used),
        value=settled.value,
        overflow=settled.overflow,
        reserve=settled.reserve,
        owed=settled.owed,
        cycle=pot.cycle,
        settled_to=pot.settled_to,
        won_through=pot.won_through,
        previous=cut_record(before, UNDO_DEPTH - 1),
    )
    change.meter(meter, "last_settlement", msgspec.json.encode(record).decode())
    if settled.remaining:
        change.registrations(meter, settled.remaining)
    else:
        # Owed is nothing by now; what accrued since the last registration is split at the cap.
        change.thaw(meter, 0)
    book.effect(pot)
    return book.finish(
        "meter_settled",
        by=[],
        reason="",
        detail={
            "meter": meter,
            "order": record.claims,
            "registrations": [(r.claim, r.seq, r.value) for r in used],
            "frontiers": {t.id: evidence(t) for t in book.state.tables.values() if t.live},
            "known_at": book.state.read_at,
            "known_seq": book.state.seq,
        },
    )


def _move(book: Book, meter: str, settled: Settlement | SettledRecord, *, sign: int) -> None:
    for account in ("value", "overflow", "reserve", "owed"):
        book.change.move(meter, account, sign * getattr(settled, account))


def evidence(table: TableState) -> dict[str, object]:
    """What was known of a table when an order was settled."""
    return {
        "frontier": table.frontier,
        "contact": table.contact,
        "open_rounds": [round_.number for round_ in table.open_rounds],
        "released_to": table.released or None,
        "offset": table.clock.offset if table.clock else None,
        "uncertainty": table.clock.uncertainty if table.clock else None,
    }


def undo_settlement(book: Book, meter: str, *, voided: frozenset[str] = frozenset()) -> None:
    """Take the last settlement of a meter back: its claims wait again, each on its registration.

    Claims of a voided round may have been paid: that money is gone, the house bears it, and the meter gets
    it back all the same. Any other claim that was paid stands, and with it the settlement.
    """
    pot, change = book.pots[meter], book.change
    record = settlement_of(book, meter)
    for name in record.claims:
        claim = book.claims[name]
        if claim.status is Status.PAID and name not in voided:
            raise Refused(Code.AWARD_PAID, f"claim {name} has been paid: the settlement stands")
    for name in record.claims:
        claim = book.claims[name]
        if claim.status is Status.AWARDED:
            change.post(f"payable/{claim.id}", -to_micro(claim.total_cents))
        book.put(
            replace(
                claim,
                status=Status.VERIFIED,
                amount_cents=None if claim.share_ppm else claim.amount_cents,
                shown_cents=None,
                paid_by=[],
            )
        )
    _move(book, meter, record, sign=-1)
    change.balance("house")
    last = msgspec.json.encode(record.previous).decode() if record.previous else ""
    waiting = (Registration(r.claim, r.seq, r.value - record.value) for r in pot.registrations)
    registrations = (*record.used, *waiting)
    change.registrations(meter, registrations)
    for field, value in (
        ("status", "won"),
        ("cycle", str(record.cycle)),
        ("settled_to", str(record.settled_to)),
        ("won_through", str(record.won_through)),
        ("last_settlement", last),
    ):
        change.meter(meter, field, value)
    book.effect(pot)
    book.pots[meter] = dataclasses.replace(
        pot,
        value=pot.value - record.value,
        overflow=pot.overflow - record.overflow,
        reserve=pot.reserve - record.reserve,
        owed=pot.owed - record.owed,
        registrations=registrations,
        last_settlement=last,
    )


def finished(state: LinkState) -> list[Claim]:
    """Claims that the store need not keep: final, of rounds that are not their table's latest.

    The ledger answers for such rounds. A major whose settlement could still be undone stays.
    """
    undoable = {
        name
        for pot in state.pots.values()
        if pot.last_settlement
        for name in read_settled(pot.last_settlement).claims_of_all()
    }
    pays = {claim.source for claim in state.claims.values() if claim.pending}
    return [
        claim
        for claim in state.claims.values()
        if claim.id not in undoable
        and claim.id not in pays
        and (claim.status in FINAL or (claim.kind is Kind.TRIGGER and claim.resulted))
        and claim.round < state.tables[claim.table].highest
    ]


def settlement_of(book: Book, meter: str) -> SettledRecord:
    """The last settlement of a meter, if it can still be undone."""
    text = book.pots[meter].last_settlement
    if not text:
        raise Refused(Code.NOTHING_TO_UNDO, f"meter {meter} has no settlement that can be undone")
    return read_settled(text)
