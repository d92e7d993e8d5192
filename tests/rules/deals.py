"""Hands as text, standard rules and pay tables: what the rule tests share."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import msgspec
import yaml

from controller.games.cards import Hand, parse_cards
from controller.games.pay_tables import PayTable
from controller.games.poker import PokerBox, settle_poker
from controller.games.rule_sets import RuleSet
from controller.games.settlement import NO_LIMITS, BoxLimits, Settlement
from controller.games.standard import STANDARD_OF, standard_rules
from controller.games.vocabulary import Bet, Game


def hand(text: str) -> Hand:
    """Three cards, separated by spaces."""
    first, second, third = parse_cards(text.split())
    return first, second, third


def rules_of(game: Game) -> RuleSet:
    """The document as it stands."""
    return standard_rules()[STANDARD_OF[game]]


@cache
def pay_table_of(game: Game) -> PayTable:
    """The sample floor's pay table, which is the document's."""
    floor = yaml.safe_load(files("deploy").joinpath("floor.yaml").read_text(encoding="utf-8"))
    tables = msgspec.convert(floor["pay_tables"], list[PayTable])
    return next(table for table in tables if table.game is game)


def ended(settlement: Settlement, bet: Bet, box: int = 1) -> list[tuple[str, int, int, str]]:
    """How a bet ended: outcome, stake, returned, paragraph."""
    return [
        (line.outcome.value, line.stake_cents, line.returned_cents, line.rule)
        for line in settlement.lines
        if line.box == box and line.bet is bet
    ]


def play_round(
    game: Game, dealer: str, boxes: Sequence[PokerBox], limits: BoxLimits = NO_LIMITS, community: str = ""
) -> Settlement:
    """A round of poker by the standard document and its pay table."""
    table_cards = parse_cards(community.split())
    return settle_poker(rules_of(game), pay_table_of(game), hand(dealer), table_cards, list(boxes), limits)
