"""The words of the rule documents. Names are stable: they are journaled and vendors program against them."""

from enum import StrEnum


class Game(StrEnum):
    """The rule documents that we implement."""

    TCP = "TCP"
    MLP = "MLP"
    GTP = "GTP"
    NTP = "NTP"


GAME_TITLES = {
    Game.TCP: "3 Card Poker",
    Game.MLP: "Multi-Link Progressive 3 Card Poker",
    Game.GTP: "Three-Card Poker Progressive",
    Game.NTP: "Non-Commission Three Pictures",
}


class Bet(StrEnum):
    """Every bet, and the one payout that has no stake of its own (the Ante Bonus)."""

    ANTE = "ante"
    PLAY = "play"
    ANTE_BONUS = "ante_bonus"
    PAIR_PLUS = "pair_plus"
    PROGRESSIVE = "progressive"
    INITIAL = "initial"
    TIE = "tie"
    THREE_PICTURES = "three_pictures"


BET_TITLES = {
    Bet.ANTE: "Ante",
    Bet.PLAY: "Play",
    Bet.ANTE_BONUS: "Ante Bonus",
    Bet.PAIR_PLUS: "Pair Plus",
    Bet.PROGRESSIVE: "Progressive",
    Bet.INITIAL: "Initial Bet",
    Bet.TIE: "Tie",
    Bet.THREE_PICTURES: "Three Pictures",
}


class Outcome(StrEnum):
    """How a bet ends: exactly one of these."""

    WON = "won"
    LOST = "lost"
    RETURNED = "returned"


class Decision(StrEnum):
    """What a player with an Ante chose."""

    PLAY = "play"
    FOLD = "fold"


class Point(StrEnum):
    """A point on which a rule document decides. A rule set names the paragraph of each it knows."""

    # How bets end.
    FOLD = "fold"
    FOLD_PAIR_PLUS = "fold_pair_plus"
    FOLD_PROGRESSIVE = "fold_progressive"
    NOT_REVEALED = "not_revealed"
    NOT_QUALIFIED = "not_qualified"
    BEATS_DEALER = "beats_dealer"
    LOSES_TO_DEALER = "loses_to_dealer"
    STAND_OFF = "stand_off"
    PAIR_PLUS = "pair_plus"
    ANTE_BONUS = "ante_bonus"
    PROGRESSIVE = "progressive"
    NO_ANTE = "no_ante"
    ENVY = "envy"
    WIN_ON_POINTS = "win_on_points"
    HIGHER_RANK = "higher_rank"
    LOWER_RANK = "lower_rank"
    SAME_RANK = "same_rank"
    SAME_POINTS = "same_points"
    NO_TIE = "no_tie"
    THREE_PICTURES = "three_pictures"
    # Limits and stakes.
    OVER_LIMIT = "over_limit"
    OVER_LIMIT_EXEMPT = "over_limit_exempt"
    UNDER_LIMIT = "under_limit"
    PLAY_OVER_ANTE = "play_over_ante"
    PLAY_UNDER_ANTE = "play_under_ante"
    NO_INITIAL = "no_initial"
    WALKED_AWAY_UNDECIDED = "walked_away_undecided"
    WALKED_AWAY_DECIDED = "walked_away_decided"
    # Irregularities.
    INTERRUPTED_WITH_OUTCOME = "interrupted_with_outcome"
    INTERRUPTED_WITHOUT_OUTCOME = "interrupted_without_outcome"
    FOREIGN_CARD = "foreign_card"
    CARDS_EXPOSED_UNSEEN = "cards_exposed_unseen"
    CARDS_EXPOSED_SEEN = "cards_exposed_seen"
    DECK_COUNT_WRONG = "deck_count_wrong"
    CARDS_INSUFFICIENT = "cards_insufficient"
    NOT_SHUFFLED = "not_shuffled"
    DEALT_INCORRECTLY = "dealt_incorrectly"
    DEALER_CARDS_WRONG = "dealer_cards_wrong"
    BURN_CARD = "burn_card"
    OPTIONS = "options"
    OPTION_CONTINUE = "option_continue"
    OPTION_RECONSTRUCTED = "option_reconstructed"
    OPTION_RETURN = "option_return"
    CARD_FACE_UP = "card_face_up"
    SIMULTANEOUS_CARDS = "simultaneous_cards"
    PLAYER_CARDS_WRONG = "player_cards_wrong"
    FAULT_BEFORE_SEEN = "fault_before_seen"
    FAULT_AFTER_SEEN = "fault_after_seen"
    EXTRA_HAND = "extra_hand"
    FOUND_LATE = "found_late"
    VOID_RETURNS = "void_returns"
    HOUSE = "house"
