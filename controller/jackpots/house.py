"""What people decide about claims: verify, reject, order, go on without a table, pay."""

from controller.errors import Code, FieldProblem, Refused
from controller.jackpots.book import Book, Decided, replace
from controller.jackpots.claims import FINAL, Claim, Doubt, Kind, Status
from controller.jackpots.policy import Policy
from controller.jackpots.registering import award_from_house
from controller.jackpots.settling import settlement_of, undo_settlement
from controller.jackpots.state import LinkState
from controller.jackpots.watermark import holding_back
from controller.money import decimal_text, to_micro


def _refuse(code: Code, detail: str, field: str = "") -> Refused:
    return Refused(code, detail, [FieldProblem(field, code, detail)] if field else [])


def find(state: LinkState, claim: str) -> Claim:
    """A claim that the store holds."""
    known = state.claims.get(claim)
    if known is None:
        raise _refuse(
            Code.CLAIM_UNKNOWN, f"claim {claim} is unknown, or nothing about it can change any more"
        )
    return known


def verify(state: LinkState, policy: Policy, claim: str, by: str, note: str) -> Decided:
    """A supervisor has seen the hand; of an envy award, that its players are different."""
    book, known = Book(state, policy), find(state, claim)
    # Of a major that the cards contradict the House decides with its order; of others this is the last word.
    disputed = known.kind is not Kind.MAJOR and Doubt.CONTRADICTED in known.doubts
    if known.status is not Status.REGISTERED and not disputed:
        raise _refuse(Code.CLAIM_STATE_WRONG, f"claim {claim} is {known.status}, not registered")
    if known.kind is Kind.ENVY:
        book.put(replace(known, needs_word=False, verified_by=by))
    else:
        doubts = [] if disputed else known.doubts
        book.put(replace(known, status=Status.VERIFIED, verified_by=by, doubts=doubts))
    return book.finish("claim_verified", by=[by], reason=note, detail={})


def reject(state: LinkState, policy: Policy, claim: str, by: str, reason: str) -> Decided:
    """A claim is not what it said: the meter goes on as if it had never come."""
    book, known = Book(state, policy), find(state, claim)
    if not known.pending:
        raise _refuse(Code.CLAIM_STATE_WRONG, f"claim {claim} is {known.status} and cannot be rejected")
    pot = state.pots.get(known.meter or "")
    if known.kind is Kind.MAJOR and pot and all(r.claim != claim for r in pot.registrations):
        # Another claim was paid on its registration: without it that one would be worth something else.
        detail = f"the registration of claim {claim} has been settled: undo that settlement first"
        raise _refuse(Code.AWARD_MADE, detail)
    book.withdraw(known, Status.REJECTED, reason)
    cancel_envy(book, claim)
    return book.finish("claim_rejected", by=[by], reason=reason, detail={})


def cancel_envy(book: Book, source: str) -> None:
    """A hand that was rejected or voided pays no bonus."""
    for bonus in [c for c in book.claims.values() if c.source == source]:
        cancel_award(book, bonus, f"claim {source} pays nothing")


def cancel_award(book: Book, claim: Claim, note: str) -> None:
    """Take a claim that needs no order back; what was paid stands and is the house's."""
    if claim.status in FINAL:
        return
    if claim.status is Status.AWARDED:
        book.change.post(f"payable/{claim.id}", -to_micro(claim.total_cents))
        book.change.post("house", to_micro(claim.total_cents))
    book.put(replace(claim, status=Status.CANCELLED, doubts=[], note=note))


def order(state: LinkState, policy: Policy, claims: list[str], by: str, reason: str) -> Decided:
    """The House's word on the order of a meter's claims (TCP 4.9.1, MLP 4.7.2): conclusive.

    It names every claim that waits on the meter. It does not waive the watermark.
    """
    book = Book(state, policy)
    listed = [find(state, name) for name in claims]
    meters = {claim.meter for claim in listed}
    meter = next(iter(meters)) if len(meters) == 1 else None
    if meter is None or any(not c.pending or c.kind is not Kind.MAJOR for c in listed):
        raise _refuse(Code.ORDER_WRONG, "claims: expected pending majors of one meter", "claims")
    waiting = {claim.id for claim in book.pending(meter)}
    if waiting != set(claims) or len(claims) != len(waiting):
        missing = ", ".join(sorted(waiting - set(claims))) or "each of them once"
        raise _refuse(Code.ORDER_WRONG, f"claims: expected all that wait on {meter}: {missing}", "claims")
    for place, claim in enumerate(listed):
        book.put(replace(claim, decision=(state.version, place), doubts=[]))
    detail: dict[str, object] = {"meter": meter, "order": claims}
    return book.finish("order_decided", by=[by], reason=reason, detail=detail)


def proceed(state: LinkState, policy: Policy, table: str, by: str, reason: str) -> Decided:
    """Go on without a table that stays silent, once it has held a claim for the link's hold limit."""
    book = Book(state, policy)
    known = state.tables.get(table)
    held = [
        claim
        for meter in state.pots
        for claim in book.pending(meter)
        if known is not None and holding_back(claim, [known])
    ]
    if known is None or not held:
        raise _refuse(Code.TABLE_HOLDS_NOTHING, f"table {table} holds no claim back")
    silent = state.read_at - known.contact
    long_held = [c for c in held if state.read_at - c.latest >= policy.hold_limit]
    if silent < policy.hold_limit or not long_held:
        left = policy.hold_limit - min(silent, state.read_at - min(c.latest for c in held))
        seconds = left // 1_000_000 + 1
        raise _refuse(Code.HOLD_LIMIT_NOT_REACHED, f"table {table} may hold claims for another {seconds} s")
    upto = max(known.released, *(claim.latest + 1 for claim in long_held))
    book.change.table(table, "released", str(upto))
    detail: dict[str, object] = {"table": table, "released_to": upto, "held": [c.id for c in held]}
    return book.finish("table_released", by=[by], reason=reason, detail=detail)


def undo(
    state: LinkState, policy: Policy, meter: str, by: list[str], reason: str, meant: list[str] | None
) -> Decided:
    """Undo a meter's last settlement, to settle again in the true order: two people, before payment."""
    two_people(by, "to undo a settlement")
    book = Book(state, policy)
    claims = settlement_of(book, meter).claims
    if meant is not None and meant != claims:
        said = f"claims: the last settlement of {meter} paid {', '.join(claims)}"
        raise _refuse(Code.NOTHING_TO_UNDO, said, "claims")
    undo_settlement(book, meter)
    # Its claims wait for the House's order: otherwise they would be settled the same way again at once.
    for name in claims:
        book.put(replace(book.claims[name], decision=None, doubts=[Doubt.UNDONE]))
    detail: dict[str, object] = {"meter": meter, "claims": claims}
    return book.finish("settlement_undone", by=by, reason=reason, detail=detail)


def two_people(by: list[str], what: str, field: str = "by") -> None:
    """Refuse one person alone."""
    if len(set(by)) < 2:
        raise _refuse(Code.SECOND_PERSON_NEEDED, f"{field}: two different people are needed {what}", field)


def pay(state: LinkState, policy: Policy, claim: str, by: list[str], *, notice: str, note: str) -> Decided:
    """A named person has paid an award; two above the link's threshold, after notice above another."""
    book, known = Book(state, policy), find(state, claim)
    if known.status is not Status.AWARDED:
        raise _refuse(Code.CLAIM_STATE_WRONG, f"claim {claim} is {known.status}, not awarded")
    if known.total_cents >= policy.two_people_from_cents:
        two_people(by, f"to pay {decimal_text(known.total_cents)}")
    if policy.notice_from_cents is not None and known.total_cents >= policy.notice_from_cents and not notice:
        raise _refuse(Code.NOTICE_NEEDED, "notice: the regulator's notice comes before the payment", "notice")
    total = to_micro(known.total_cents)
    book.change.post(f"payable/{claim}", -total)
    book.change.post("paid", total)
    book.put(replace(known, status=Status.PAID, paid_by=by))
    detail: dict[str, object] = {"notice": notice} if notice else {}
    return book.finish("claim_paid", by=by, reason=note, detail=detail)


def award_envy(state: LinkState, policy: Policy) -> Decided | None:
    """Award one envy bonus whose hand is verified; None where none waits only for that."""
    for bonus in state.claims.values():
        if bonus.kind is not Kind.ENVY or not bonus.pending or bonus.needs_word:
            continue
        source = state.claims.get(bonus.source) if bonus.source else None
        if source is not None and not _source_stands(source, policy):
            continue
        book = Book(state, policy)
        award_from_house(book, bonus)
        return book.finish("envy_awarded", by=[], reason="", detail={})
    return None


def award_minor(state: LinkState, policy: Policy) -> Decided | None:
    """Award one fixed amount that a supervisor verified, of a round that ended without a result."""
    for claim in state.claims.values():
        table = state.tables.get(claim.table)
        over = table is None or all(r.number != claim.round for r in table.open_rounds)
        if claim.kind is Kind.MINOR and claim.status is Status.VERIFIED and over and not claim.doubts:
            book = Book(state, policy)
            award_from_house(book, claim)
            return book.finish("minor_awarded", by=[], reason="", detail={})
    return None


def _source_stands(source: Claim, policy: Policy) -> bool:
    if source.status in (Status.REJECTED, Status.CANCELLED):
        return False
    if source.status is Status.REGISTERED:
        return policy.verification == "not_required" and not source.doubts
    return Doubt.CONTRADICTED not in source.doubts
