"""Claims come in: by `…/wins`, and from a round's result, which ranks every hand itself."""

from dataclasses import dataclass

from controller.errors import Code, FieldProblem, Refused
from controller.games.pay_tables import PayLine
from controller.games.settlement import Entitlement, EnvyBonus
from controller.jackpots.book import Book, replace
from controller.jackpots.claims import Claim, Doubt, Kind, Status, claim_id, envy_id
from controller.jackpots.clocks import Clock, deal_time
from controller.money import to_micro


@dataclass(frozen=True, slots=True)
class Hand:
    """A box of a recorded round, as a claim needs it."""

    table: str
    round: int
    box: int
    player: str | None
    has_bet: bool
    """A progressive bet that counts."""
    has_ante: bool
    stake_cents: int
    bets_closed_at: int
    bets_recorded_at: int
    """By our clock."""


def new_claim(book: Book, hand: Hand, line: PayLine, dealt_at: int) -> Claim:
    """A claim for a hand that a pay table names; refused where the rules give it nothing."""
    amount = line.amount_cents(hand.stake_cents)
    if hand.has_bet:
        kind = Kind.MINOR if line.meter is None else Kind.MAJOR
    elif hand.has_ante and line.envy_cents:
        kind, amount = Kind.TRIGGER, None
    else:
        detail = f"box {hand.box} has no progressive bet in round {hand.round} of table {hand.table}"
        raise Refused(Code.NOT_ELIGIBLE, detail, [FieldProblem("box", Code.NOT_ELIGIBLE, detail)])
    claim = Claim(
        id=claim_id(hand.table, hand.round, hand.box),
        kind=kind,
        table=hand.table,
        round=hand.round,
        box=hand.box,
        player=hand.player,
        hand=line.hand,
        rule=line.rule,
        status=Status.REGISTERED,
        meter=line.meter if kind is Kind.MAJOR else None,
        share_ppm=line.share_ppm if kind is Kind.MAJOR else None,
        amount_cents=amount,
        wager_cents=hand.stake_cents if line.wager_returned and hand.has_bet else 0,
    )
    return _timed(book, hand, claim, dealt_at)


def _timed(book: Book, hand: Hand, claim: Claim, dealt_at: int) -> Claim:
    """The claim with its deal by our clock, and what about it is doubtful."""
    known = book.state.tables.get(hand.table)
    measured = known.clock_at(book.state.read_at) if known else None
    clock = measured or Clock(0, book.policy.unmeasured_clock)
    when = deal_time(clock, dealt_at, hand.bets_closed_at, hand.bets_recorded_at, book.state.read_at)
    doubts = []
    if claim.kind is Kind.MAJOR:
        doubts = [] if when.plausible else [Doubt.TIME]
        # Where the clock was measured, the least doubt counts; an unmeasured one must be sure.
        if hand.bets_recorded_at > (when.earliest if measured else when.latest):
            doubts.append(Doubt.BETS_LATE)
    return replace(claim, dealt_at=dealt_at, earliest=when.earliest, latest=when.latest, doubts=doubts)


def register(book: Book, claim: Claim) -> None:
    """Take a claim in."""
    if claim.kind is Kind.MAJOR:
        book.register(claim)
    else:
        book.put(claim)


@dataclass(frozen=True, slots=True)
class Alarming:
    """Something about a result that a person must see."""

    subject: str
    detail: str


def register_result(
    book: Book,
    hands: dict[int, Hand],
    entitled: list[Entitlement],
    envy: list[EnvyBonus],
    lines: dict[str, PayLine],
    dealt: dict[int, int],
    shown: dict[int, str | None],
    final: list[Claim],
) -> list[Alarming]:
    """Everything that a round's result says about progressives: claims, fixed awards, triggers, envy.

    `shown`: the progressive hand of each box that showed its cards and did not fold. `final`: what the
    ledger knows of the round's claims that the store has let go of.
    """
    if not hands:
        return []
    table, number = next((hand.table, hand.round) for hand in hands.values())
    own = [c for c in book.claims.values() if (c.table, c.round) == (table, number)]
    known_claims = {c.id: c for c in (*final, *own)}
    hands_claimed = [c for c in known_claims.values() if c.kind is not Kind.ENVY]
    # A miscall that was rejected says nothing about what the hand is.
    earlier = {c.box: c for c in sorted(hands_claimed, key=lambda c: c.status is not Status.REJECTED)}
    alarms: list[Alarming] = []
    found = {item.box: item.hand for item in entitled}
    found |= {item.hand_box: item.hand for item in envy if item.hand_box not in found}
    for box, name in found.items():
        known = earlier.get(box)
        truth = new_claim(book, hands[box], lines[name], dealt.get(box, hands[box].bets_closed_at))
        if known is not None and known.hand == name and known.status is not Status.REJECTED:
            alarms += _confirm(book, known, truth)
            continue
        if known is not None:
            alarms.append(_contradict(book, known, f"its cards are {name}"))
            truth = replace(truth, id=f"{truth.id}.cards")
        elif truth.kind is Kind.MAJOR:
            detail = f"claim {truth.id}: the result shows {name}, and nobody had claimed it"
            alarms.append(Alarming(f"missed_win/{truth.id}", detail))
        _take(book, truth)
    unfounded = [known for box, known in earlier.items() if box not in found and known.pending]
    alarms += [alarm for known in unfounded for alarm in _without_award(book, known, shown)]
    given = {envy_id(table, number, bonus.box, bonus.hand_box): bonus for bonus in envy}
    for name, bonus in given.items():
        if name not in known_claims:
            _bonus(book, table, number, bonus, hands)
    return alarms + _unfounded(known_claims, given)


def _without_award(book: Book, known: Claim, shown: dict[int, str | None]) -> list[Alarming]:
    """A claim that the result gives nothing: contradicted, unless it is a trigger without receivers."""
    if known.kind is Kind.TRIGGER and shown.get(known.box) == known.hand:
        book.put(replace(known, resulted=True))
        return []
    return [_contradict(book, known, "its cards and decision win nothing")]


def _unfounded(known: dict[str, Claim], given: dict[str, EnvyBonus]) -> list[Alarming]:
    """Envy awards by a supervisor's list of folds that the result does not bear out."""
    return [
        Alarming(f"contradiction/{claim.id}", f"envy award {claim.id}: the result gives no such bonus")
        for claim in known.values()
        if claim.kind is Kind.ENVY and claim.id not in given and claim.status is not Status.CANCELLED
    ]


def register_folds(
    book: Book,
    hands: dict[int, Hand],
    lines: dict[str, PayLine],
    folded: frozenset[int],
    rule: str,
    final: list[Claim],
) -> None:
    """A supervisor says who folded: the envy bonuses of a round whose result does not come."""
    known = {claim.id: claim for claim in final} | book.claims
    place = {(hand.table, hand.round) for hand in hands.values()}
    for trigger in [c for c in known.values() if (c.table, c.round) in place and c.kind is not Kind.ENVY]:
        line = lines.get(trigger.hand)
        stands = trigger.status not in (Status.REJECTED, Status.CANCELLED)
        if not stands or line is None or not line.envy_cents or trigger.box in folded:
            continue
        if trigger.kind is Kind.TRIGGER and trigger.id in book.claims:
            book.put(replace(trigger, resulted=True))
        table, number = trigger.table, trigger.round
        for receiver in hands.values():
            same = receiver.box == trigger.box or (receiver.player and receiver.player == trigger.player)
            if not receiver.has_bet or receiver.box in folded or same:
                continue
            bonus = EnvyBonus(
                box=receiver.box,
                player=receiver.player,
                amount_cents=line.envy_cents,
                hand_box=trigger.box,
                hand=trigger.hand,
                rule=rule,
            )
            if envy_id(table, number, receiver.box, trigger.box) not in known:
                _bonus(book, table, number, bonus, hands)


def _take(book: Book, claim: Claim) -> None:
    """A claim with the result behind it: fixed awards are made at once."""
    if claim.kind is Kind.MINOR:
        award_from_house(book, claim)
    else:
        register(book, claim)


def _confirm(book: Book, known: Claim, truth: Claim) -> list[Alarming]:
    """The result agrees with a claim about the hand; maybe not about the time."""
    if known.kind is Kind.MINOR and known.pending:
        award_from_house(book, known)
    if known.kind is Kind.TRIGGER and known.id in book.claims:
        book.put(replace(known, resulted=True))
    if known.dealt_at == truth.dealt_at or known.kind is not Kind.MAJOR:
        return []
    if known.pending and Doubt.CONTRADICTED not in known.doubts:
        book.put(replace(known, doubts=[*known.doubts, Doubt.CONTRADICTED]))
    detail = f"claim {known.id}: the claim and the result disagree about the time of the deal"
    return [Alarming(f"deal_time_differs/{known.id}", detail)]


def _contradict(book: Book, known: Claim, why: str) -> Alarming:
    if known.pending and Doubt.CONTRADICTED not in known.doubts:
        book.put(replace(known, doubts=[*known.doubts, Doubt.CONTRADICTED]))
    said = "was rejected" if known.status is Status.REJECTED else f"says {known.hand}"
    return Alarming(f"contradiction/{known.id}", f"claim {known.id} {said}, but {why}")


def award_from_house(book: Book, claim: Claim) -> None:
    """An award that needs no order: small ones are paid by the dealer with the round."""
    total = to_micro(claim.total_cents)
    book.change.post("house", -total)
    if claim.total_cents < book.policy.hand_pay_from_cents and claim.kind is Kind.MINOR:
        book.change.post("paid", total)
        paid_by = [f"table {claim.table}"]
        book.put(replace(claim, status=Status.PAID, doubts=[], paid_by=paid_by))
    else:
        book.change.post(f"payable/{claim.id}", total)
        book.put(replace(claim, status=Status.AWARDED, doubts=[]))


def _bonus(book: Book, table: str, number: int, bonus: EnvyBonus, hands: dict[int, Hand]) -> None:
    """One box's bonus goes with the hand behind it: waits for its verification, and is cancelled with it."""
    source = claim_id(table, number, bonus.hand_box)
    by_cards = f"{source}.cards"
    book.put(
        Claim(
            id=envy_id(table, number, bonus.box, bonus.hand_box),
            kind=Kind.ENVY,
            table=table,
            round=number,
            box=bonus.box,
            player=bonus.player,
            hand=bonus.hand,
            rule=bonus.rule,
            status=Status.REGISTERED,
            amount_cents=bonus.amount_cents,
            source=by_cards if by_cards in book.claims else source,
            needs_word=bonus.player is None or hands[bonus.hand_box].player is None,
        )
    )
