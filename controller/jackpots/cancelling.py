"""Taking claims back with their round or their box: before a freeze, a settlement, a reset and a payment."""

from controller.errors import Code, FieldProblem, Refused
from controller.jackpots.book import Book
from controller.jackpots.claims import Claim, Kind, Status, claim_id
from controller.jackpots.house import cancel_award, cancel_envy, two_people
from controller.jackpots.settling import undo_settlement


def cancel_round(book: Book, table: str, number: int, by: list[str], final: list[Claim]) -> None:
    """The round is void: whatever it claimed, won or gave to others is taken back.

    `final`: what the ledger knows of the round's claims that the store has let go of.
    """
    _cancel(book, book.state.of_round(table, number), final, by, "the round is void")


def cancel_box(book: Book, table: str, number: int, box: int, by: list[str], final: list[Claim]) -> None:
    """The box's hand is out of play: it neither wins, triggers nor receives, and nobody receives for it."""
    hand = claim_id(table, number, box)

    def concerned(claims: list[Claim]) -> list[Claim]:
        return [c for c in claims if c.box == box or (c.source or "").removesuffix(".cards") == hand]

    own = concerned(book.state.of_round(table, number))
    _cancel(book, own, concerned(final), by, "the hand is out of play")


def _cancel(book: Book, claims: list[Claim], final: list[Claim], by: list[str], note: str) -> None:
    """An award that was made needs the House; one that was paid, two people."""
    known = [*claims, *(c for c in final if c.id not in book.claims)]
    made = [c for c in known if c.status in (Status.AWARDED, Status.PAID)]
    if made and not by:
        detail = f"authorised_by: claim {made[0].id} has been {made[0].status}: the House must allow this"
        raise Refused(Code.AWARD_MADE, detail, [FieldProblem("authorised_by", Code.AWARD_MADE, detail)])
    if any(c.status is Status.PAID for c in made):
        two_people(by, "to take a paid award back", "authorised_by")
    lost = [c.id for c in made if c.kind is Kind.MAJOR and c.id not in book.claims]
    if lost:
        raise Refused(Code.AWARD_PAID, f"claim {lost[0]} was settled too long ago to be taken back")
    voided = frozenset(claim.id for claim in claims)
    for meter in sorted({c.meter for c in claims if c.kind is Kind.MAJOR and c.meter}):
        # Later settlements of the meter rest on this one: their claims wait again.
        while any(_is_settled(book, name, meter) for name in voided):
            undo_settlement(book, meter, voided=voided)
    for claim in claims:
        current = book.claims[claim.id]
        if current.kind is Kind.MAJOR and current.pending:
            book.withdraw(current, Status.CANCELLED, note)
        elif current.kind is not Kind.MAJOR:
            cancel_award(book, current, note)
        cancel_envy(book, claim.id)


def _is_settled(book: Book, name: str, meter: str) -> bool:
    """Whether a claim, or the registration that it made, has been settled on a meter."""
    claim = book.claims[name]
    if claim.kind is not Kind.MAJOR or claim.meter != meter:
        return False
    if claim.status in (Status.AWARDED, Status.PAID):
        return True
    return claim.pending and all(r.claim != name for r in book.pots[meter].registrations)
