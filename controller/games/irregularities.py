"""What went wrong at a table, what is known about it, and what the paragraph makes of it.

A table or the House names what happened and the facts that the paragraph asks for; the ruling follows.
A fact that the paragraph needs and nobody gave is asked for by name, never assumed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from controller.errors import JackpotError
from controller.games.rule_sets import RuleSet
from controller.games.settlement import Remark
from controller.games.vocabulary import Point

Words = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]


class Irregularity(StrEnum):
    """Everything that the documents foresee, and the House's own decision for what they do not."""

    INTERRUPTION = "interruption"
    FOREIGN_CARD = "foreign_card"
    CARDS_EXPOSED = "cards_exposed"
    DECK_COUNT_WRONG = "deck_count_wrong"
    CARDS_INSUFFICIENT = "cards_insufficient"
    NOT_SHUFFLED = "not_shuffled"
    DEALT_INCORRECTLY = "dealt_incorrectly"
    DEALER_CARDS_WRONG = "dealer_cards_wrong"
    BURN_CARD_MISSED = "burn_card_missed"
    DEALING_ERROR = "dealing_error"
    CARD_FACE_UP = "card_face_up"
    SIMULTANEOUS_CARDS = "simultaneous_cards"
    PLAYER_CARDS_WRONG = "player_cards_wrong"
    PROGRESSIVE_FAULT = "progressive_fault"
    EXTRA_HAND_EXAMINED = "extra_hand_examined"
    FOUND_LATE = "found_late"
    HOUSE_DECISION = "house_decision"


class Option(StrEnum):
    """What a player chose after a dealing error (5.10; NTP 5.7)."""

    CONTINUE = "continue"
    CONTINUE_RECONSTRUCTED = "continue_reconstructed"
    RETURN = "return"


class HouseDecision(StrEnum):
    """What the House made of something that the documents do not cover (5.23; NTP 5.17)."""

    STANDS = "stands"
    VOID = "void"
    RETURN_BOXES = "return_boxes"


class BoxOption(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One box's choice."""

    box: Annotated[int, Meta(ge=1, le=12)]
    option: Option


class IncidentFacts(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True
):
    """What a paragraph may ask about something that went wrong."""

    boxes: Annotated[list[Annotated[int, Meta(ge=1, le=12)]], Meta(max_length=12)] | UnsetType = UNSET
    """The boxes concerned."""
    cards_seen: bool | UnsetType = UNSET
    """Whether any player has seen (NTP: handled) cards that were dealt to him."""
    reconstructed: bool | UnsetType = UNSET
    """Whether the cards were returned to their intended order."""
    outcome_established: bool | UnsetType = UNSET
    """Whether any bet has conclusively won or lost."""
    cards_exposed: Annotated[int, Meta(ge=1, le=52)] | UnsetType = UNSET
    intentional: bool | UnsetType = UNSET
    options: Annotated[list[BoxOption], Meta(max_length=12)] | UnsetType = UNSET
    decided_by: Words | UnsetType = UNSET
    """Who decided, where the paragraph names a person: pit supervisor (5.14, 5.18), shift manager (5.23)."""
    decision: HouseDecision | UnsetType = UNSET
    note: Words | UnsetType = UNSET
    """Why the House decided so."""


class Incident(IncidentFacts, frozen=True, kw_only=True):
    """Something that went wrong."""

    what: Irregularity


@dataclass
class FactMissing(JackpotError):
    """A paragraph cannot rule without this fact."""

    field: str
    rule: str

    def __str__(self) -> str:
        return f"{self.field}: {self.rule} asks for it"


class NotForeseen(JackpotError):
    """This game's document has no paragraph for it: the House decides."""


@dataclass(frozen=True)
class Ruling:
    """What a paragraph makes of an incident."""

    rule: str
    sentence: str
    void: bool = False
    invalidated: dict[int, str] = field(default_factory=dict)
    """Boxes whose hand is taken out and whose bets go back, each by its paragraph."""

    def remark(self) -> Remark:
        """The ruling as a line of the settlement."""
        return Remark(box=None, rule=self.rule, sentence=f"{self.sentence}.")


class _Case:
    """An incident under a rule set: asks for facts by name."""

    def __init__(self, rules: RuleSet, incident: Incident) -> None:
        self.rules = rules
        self.incident = incident

    def rule(self, point: Point) -> str:
        if not self.rules.knows(point):
            raise NotForeseen(
                f"{self.rules.game} has no paragraph for {self.incident.what}: send house_decision"
            )
        return self.rules.rule(point)

    def yes(self, name: str, point: Point) -> bool:
        return bool(self._fact(name, point))

    def number(self, name: str, point: Point) -> int:
        value = self._fact(name, point)
        return value if isinstance(value, int) else 0

    def boxes(self, point: Point) -> list[int]:
        if not self.incident.boxes:
            raise FactMissing("boxes", self.rule(point))
        return self.incident.boxes

    def person(self, point: Point) -> str:
        value = self._fact("decided_by", point)
        return value if isinstance(value, str) else ""

    def _fact(self, name: str, point: Point) -> object:
        value: object = getattr(self.incident, name)
        if value is UNSET:
            raise FactMissing(name, self.rule(point))
        return value

    def void(self, point: Point, sentence: str) -> Ruling:
        return Ruling(self.rule(point), f"{sentence}: the round is void", void=True)

    def stands(self, point: Point, sentence: str) -> Ruling:
        return Ruling(self.rule(point), sentence)

    def takes_out(self, boxes: list[int], point: Point, sentence: str) -> Ruling:
        return Ruling(self.rule(point), sentence, invalidated=dict.fromkeys(boxes, self.rule(point)))

    def options(self, point: Point, sentence: str) -> Ruling:
        """The players' options: continue, with or without reconstruction, or have the bets back."""
        if self.incident.options is UNSET:
            raise FactMissing("options", self.rule(point))
        reconstructed = self.yes("reconstructed", point)
        out: dict[int, str] = {}
        for choice in self.incident.options:
            wanted = Option.CONTINUE_RECONSTRUCTED if reconstructed else Option.CONTINUE
            if choice.option is Option.RETURN:
                out[choice.box] = self.rule(Point.OPTION_RETURN)
            elif choice.option is not wanted:
                # 5.10.1 is for cards that cannot be reconstructed, 5.10.2 for cards that can.
                raise FactMissing(f"options: box {choice.box}: expected {wanted} or return", self.rule(point))
        return Ruling(self.rule(point), f"{sentence}: the players chose", invalidated=out)


def _interruption(case: _Case) -> Ruling:
    if case.yes("outcome_established", Point.INTERRUPTED_WITH_OUTCOME):
        return case.stands(Point.INTERRUPTED_WITH_OUTCOME, "interrupted with an outcome: play is concluded")
    return case.void(Point.INTERRUPTED_WITHOUT_OUTCOME, "interrupted before any outcome")


def _exposed(case: _Case) -> Ruling:
    if not case.rules.knows(Point.CARDS_EXPOSED_UNSEEN):  # NTP: an error like any other
        return case.options(Point.OPTIONS, "a card was exposed")
    if case.yes("cards_seen", Point.CARDS_EXPOSED_SEEN):
        return case.stands(
            Point.CARDS_EXPOSED_SEEN, "a card was exposed after cards were seen: play continues"
        )
    if case.number("cards_exposed", Point.CARDS_EXPOSED_UNSEEN) >= 2:
        return case.void(Point.CARDS_EXPOSED_UNSEEN, "cards were exposed before any was seen")
    return case.options(Point.OPTIONS, "one card was exposed before any was seen")


def _always_void(point: Point, sentence: str) -> "Callable[[_Case], Ruling]":
    return lambda case: case.void(point, sentence)


def _dealt_incorrectly(case: _Case) -> Ruling:
    if case.yes("reconstructed", Point.DEALT_INCORRECTLY):
        return case.options(Point.OPTIONS, "dealt incorrectly and reconstructed")
    if case.yes("cards_seen", Point.DEALT_INCORRECTLY):
        return case.options(Point.OPTIONS, "dealt incorrectly, noticed after cards were seen")
    return case.void(Point.DEALT_INCORRECTLY, "dealt incorrectly and not to be reconstructed")


def _dealer_cards(case: _Case) -> Ruling:
    if case.yes("reconstructed", Point.DEALER_CARDS_WRONG):
        return case.options(Point.OPTIONS, "the dealer's hand was reconstructed")
    return case.void(Point.DEALER_CARDS_WRONG, "a wrong number of cards in the dealer's hand")


def _burn_card(case: _Case) -> Ruling:
    if case.yes("cards_seen", Point.BURN_CARD) or not case.yes("reconstructed", Point.BURN_CARD):
        return case.void(Point.BURN_CARD, "the burn card was not discarded")
    return case.options(Point.BURN_CARD, "the burn card was not discarded, reconstructed")


def _simultaneous(case: _Case) -> Ruling:
    who = case.person(Point.SIMULTANEOUS_CARDS)
    return case.options(Point.SIMULTANEOUS_CARDS, f"cards drawn together, their order decided by {who}")


def _player_cards(case: _Case) -> Ruling:
    boxes = case.boxes(Point.PLAYER_CARDS_WRONG)
    if case.yes("reconstructed", Point.PLAYER_CARDS_WRONG):
        return case.options(Point.OPTIONS, "a player's hand was reconstructed")
    return case.takes_out(boxes, Point.PLAYER_CARDS_WRONG, "a wrong number of cards in a player's hand")


def _fault(case: _Case) -> Ruling:
    if case.yes("cards_seen", Point.FAULT_AFTER_SEEN):
        return case.stands(
            Point.FAULT_AFTER_SEEN,
            "progressive fault after cards were seen: paid on the value registered before it",
        )
    return case.void(Point.FAULT_BEFORE_SEEN, "progressive fault before any card was seen")


def _extra_hand(case: _Case) -> Ruling:
    boxes, who = case.boxes(Point.EXTRA_HAND), case.person(Point.EXTRA_HAND)
    if case.yes("intentional", Point.EXTRA_HAND):
        return case.takes_out(boxes, Point.EXTRA_HAND, f"a further hand was examined on purpose, says {who}")
    return case.stands(
        Point.EXTRA_HAND, f"a further hand was examined, not on purpose, says {who}: it stands"
    )


def _house(case: _Case) -> Ruling:
    who = case.person(Point.HOUSE)
    decision, note = case.incident.decision, case.incident.note
    if decision is UNSET or note is UNSET:
        raise FactMissing("decision" if decision is UNSET else "note", case.rule(Point.HOUSE))
    sentence = f"decided by {who}: {note}"
    if decision is HouseDecision.VOID:
        return case.void(Point.HOUSE, sentence)
    if decision is HouseDecision.RETURN_BOXES:
        return case.takes_out(case.boxes(Point.HOUSE), Point.HOUSE, sentence)
    return case.stands(Point.HOUSE, sentence)


_CASES: dict[Irregularity, Callable[[_Case], Ruling]] = {
    Irregularity.INTERRUPTION: _interruption,
    Irregularity.FOREIGN_CARD: _always_void(Point.FOREIGN_CARD, "a card of another set was found"),
    Irregularity.CARDS_EXPOSED: _exposed,
    Irregularity.DECK_COUNT_WRONG: _always_void(
        Point.DECK_COUNT_WRONG, "a card too few or too many in the deck"
    ),
    Irregularity.CARDS_INSUFFICIENT: _always_void(Point.CARDS_INSUFFICIENT, "not enough cards for the round"),
    Irregularity.NOT_SHUFFLED: _always_void(Point.NOT_SHUFFLED, "the cards were not shuffled"),
    Irregularity.DEALT_INCORRECTLY: _dealt_incorrectly,
    Irregularity.DEALER_CARDS_WRONG: _dealer_cards,
    Irregularity.BURN_CARD_MISSED: _burn_card,
    Irregularity.DEALING_ERROR: lambda case: case.options(Point.OPTIONS, "a dealing error"),
    Irregularity.CARD_FACE_UP: lambda case: case.stands(
        Point.CARD_FACE_UP, "a card lay face up: it was used"
    ),
    Irregularity.SIMULTANEOUS_CARDS: _simultaneous,
    Irregularity.PLAYER_CARDS_WRONG: _player_cards,
    Irregularity.PROGRESSIVE_FAULT: _fault,
    Irregularity.EXTRA_HAND_EXAMINED: _extra_hand,
    Irregularity.FOUND_LATE: lambda case: case.stands(
        Point.FOUND_LATE, "found after the next round had begun"
    ),
    Irregularity.HOUSE_DECISION: _house,
}


def judge(rules: RuleSet, incident: Incident) -> Ruling:
    """What the document makes of an incident; `FactMissing` or `NotForeseen` where it cannot say."""
    return _CASES[incident.what](_Case(rules, incident))


def boxes_named(incident: Incident) -> Iterator[int]:
    """Every box that an incident names."""
    yield from incident.boxes or ()
    yield from (choice.box for choice in incident.options or ())
