"""Every hand there is, counted and compared: with combinatorics, with pokerkit, with Appendix C."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, combinations_with_replacement, groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pokerkit import Card as TheirCard
from pokerkit.lookups import Label, RhodeIslandHoldemLookup, StandardLookup

from controller.games.cards import (
    DECK,
    RANKS,
    Card,
    CardError,
    Suit,
    parse_card,
    parse_cards,
    repeated_card,
)
from controller.games.ranking import (
    FiveCardHand,
    ThreeCardHand,
    progressive_five,
    progressive_three,
    qualifies,
    rank_five,
    rank_pictures,
    rank_three,
)
from tests.rules import literal
from tests.rules.deals import hand

HANDS = list(combinations(DECK, 3))
THEIRS = {card: next(iter(TheirCard.parse(str(card)[0] + str(card)[1].lower()))) for card in DECK}

THREE_CARD_LABELS = {
    Label.HIGH_CARD: ThreeCardHand.HIGH_CARD,
    Label.ONE_PAIR: ThreeCardHand.PAIR,
    Label.FLUSH: ThreeCardHand.FLUSH,
    Label.STRAIGHT: ThreeCardHand.STRAIGHT,
    Label.THREE_OF_A_KIND: ThreeCardHand.THREE_OF_A_KIND,
    Label.STRAIGHT_FLUSH: ThreeCardHand.STRAIGHT_FLUSH,
}
FIVE_CARD_LABELS = {
    Label.HIGH_CARD: FiveCardHand.HIGH_CARD,
    Label.ONE_PAIR: FiveCardHand.PAIR,
    Label.TWO_PAIR: FiveCardHand.TWO_PAIRS,
    Label.THREE_OF_A_KIND: FiveCardHand.THREE_OF_A_KIND,
    Label.STRAIGHT: FiveCardHand.STRAIGHT,
    Label.FLUSH: FiveCardHand.FLUSH,
    Label.FULL_HOUSE: FiveCardHand.FULL_HOUSE,
    Label.FOUR_OF_A_KIND: FiveCardHand.FOUR_OF_A_KIND,
    Label.STRAIGHT_FLUSH: FiveCardHand.STRAIGHT_FLUSH,
}


def theirs(cards: Iterable[Card]) -> list[TheirCard]:
    return [THEIRS[card] for card in cards]


def test_3_1_2_every_three_card_hand_is_counted() -> None:
    assert Counter(rank_three(cards).hand for cards in HANDS) == {
        ThreeCardHand.STRAIGHT_FLUSH: 48,
        ThreeCardHand.THREE_OF_A_KIND: 52,
        ThreeCardHand.STRAIGHT: 720,
        ThreeCardHand.FLUSH: 1096,
        ThreeCardHand.PAIR: 3744,
        ThreeCardHand.HIGH_CARD: 16440,
    }


def test_tcp_3_17_every_progressive_hand_is_counted() -> None:
    found = Counter(progressive_three(cards, rank_three(cards)) for cards in HANDS)
    assert found == {
        "akq_spades": 1,
        "akq_other_suit": 3,
        "straight_flush": 44,
        "three_of_a_kind": 52,
        "straight": 720,
        None: 22100 - 820,
    }


def test_mlp_3_17_every_five_card_hand_is_counted() -> None:
    found = Counter(map(rank_five, combinations(DECK, 5)))
    assert [found[kind] for kind in sorted(FiveCardHand, reverse=True)] == [
        4,
        36,
        624,
        3744,
        5108,
        10200,
        54912,
        123552,
        1098240,
        1302540,
    ]


def test_3_1_3_the_whole_order_of_three_cards_is_pokerkits() -> None:
    """Same order and same classes of equal hands, over all 22,100."""
    lookup = RhodeIslandHoldemLookup()
    entries = {cards: lookup.get_entry(theirs(cards)) for cards in HANDS}
    by_index = sorted(HANDS, key=lambda cards: entries[cards].index)
    ours = []
    for _, equal in groupby(by_index, key=lambda cards: entries[cards].index):
        ranks = {rank_three(cards) for cards in equal}
        assert len(ranks) == 1, f"pokerkit calls these equal: {ranks}"
        ours.append(ranks.pop())
    assert ours == sorted(set(ours)), "pokerkit's order from the lowest hand is ours"
    assert {cards: THREE_CARD_LABELS[entry.label] for cards, entry in entries.items()} == {
        cards: rank_three(cards).hand for cards in HANDS
    }


def test_pokerkits_own_order_of_categories_is_the_documents() -> None:
    lookup = RhodeIslandHoldemLookup()
    rising = ["As Kh Jd", "2s 2h 3d", "2s 3s 5s", "As 2h 3d", "2s 2h 2d", "As 2s 3s"]
    indices = [lookup.get_entry(text.replace(" ", "")).index for text in rising]
    assert indices == sorted(indices)
    assert len(set(indices)) == len(indices)


def test_mlp_3_17_every_five_card_pattern_is_pokerkits() -> None:
    """6,175 multisets of ranks in mixed suits, and all 1,287 sets of ranks in one suit."""
    lookup = StandardLookup()
    suits = tuple(Suit)
    patterns = [
        ranks for ranks in combinations_with_replacement(range(2, 15), 5) if max(Counter(ranks).values()) < 5
    ]
    assert len(patterns) == 6175
    for ranks in patterns:
        odd = len(set(ranks)) == 5  # five different ranks: the last card leaves the suit
        mixed = [Card(rank, suits[ranks[:i].count(rank) + (odd and i == 4)]) for i, rank in enumerate(ranks)]
        assert len(set(mixed)) == 5
        assert len({card.suit for card in mixed}) > 1
        a, b, c, d, e = mixed
        assert rank_five((a, b, c, d, e)) is FIVE_CARD_LABELS[lookup.get_entry(theirs(mixed)).label]
    for ranks in combinations(range(2, 15), 5):
        a, b, c, d, e = (Card(rank, Suit.HEARTS) for rank in ranks)
        label = lookup.get_entry(theirs((a, b, c, d, e))).label
        expected = FiveCardHand.ROYAL_FLUSH if ranks[0] == 10 else FIVE_CARD_LABELS[label]
        assert rank_five((a, b, c, d, e)) is expected


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("AD KD QD JD 10D", "royal_flush"),
        ("QC JC 10C 9C 8C", "straight_flush"),
        ("5S 4S 3S 2S AS", "straight_flush"),
        ("KC KH KD KS JH", "four_of_a_kind"),
        ("KC KH KD JS JH", "full_house"),
        ("KH JH 9H 5H 2H", "flush"),
        ("2H AH KH QH JH", "flush"),
        ("AD KD QD JD 10S", None),
        ("KC KH KD JS 2H", None),
    ],
)
def test_mlp_3_17_the_examples_of_the_list(cards: str, expected: str | None) -> None:
    a, b, c, d, e = parse_cards(cards.split())
    assert progressive_five((a, b, c, d, e)) == expected


@pytest.mark.parametrize(
    ("higher", "lower"),
    [
        ("KS QH JD", "JS 10H 9D"),
        ("5S 5H KD", "5D 5C QD"),
        ("AS KH JD", "AD KS 10D"),
        ("4S 3H 2D", "3S 2S AH"),
        ("3S 2H AD", "AS KS 9S"),
        ("AS KH QD", "KS QH JD"),
        ("6S 4S 2S", "AS AH KD"),
        ("2S 2H 3D", "AS KH JD"),
        ("3S 3H 2D", "2S 2H AD"),
        ("2S 2H 2D", "AS KH QD"),
        ("3S 2S AS", "AS AH AD"),
    ],
)
def test_3_1_3_hands_of_the_same_kind_are_decided_by_their_cards(higher: str, lower: str) -> None:
    assert rank_three(hand(higher)) > rank_three(hand(lower))


def test_3_1_1_all_suits_have_the_same_rank() -> None:
    assert rank_three(hand("AS KS QS")) == rank_three(hand("AH KH QH"))
    assert rank_three(hand("10S 7H 2D")) == rank_three(hand("10C 7D 2H"))


def test_1_16_the_dealer_qualifies_with_a_queen_or_better() -> None:
    for cards in HANDS:
        assert qualifies(rank_three(cards), 12) is literal.dealer_qualifies(cards)
    assert qualifies(rank_three(hand("QS 3H 2D")), 12)
    assert qualifies(rank_three(hand("2S 2H 3D")), 12)
    assert not qualifies(rank_three(hand("JS 10H 8D")), 12)


def test_ntp_appendix_c_every_hand_has_one_of_31_ranks_in_its_order() -> None:
    from_the_top = literal.appendix_c()
    assert len(from_the_top) == 31
    expected = Counter(literal.pictures_name(cards) for cards in HANDS)
    assert Counter(rank_pictures(cards).title for cards in HANDS) == expected
    assert expected["Three Pictures"] == 220
    assert expected["Double Pictures Nine"] == 66 * 4
    assert sum(expected.values()) == 22100
    for cards in HANDS:
        assert rank_pictures(cards).title == literal.pictures_name(cards)
    places = {rank_pictures(cards).title: rank_pictures(cards) for cards in HANDS}
    assert sorted(places, key=lambda name: places[name], reverse=True) == from_the_top
    assert [places[name].place for name in from_the_top] == list(range(30, -1, -1))


def test_ntp_appendix_c_the_counts_follow_from_the_values_of_the_cards() -> None:
    """Per points: pictures chosen from 12, then the other cards by their values alone."""
    of_value = Counter(dict.fromkeys(range(10), 4))  # four of each, the 10 among them as zero
    without = list(of_value.elements())
    single = Counter(sum(pair) % 10 for pair in combinations(without, 2))
    plain = Counter(sum(three) % 10 for three in combinations(without, 3))
    found = Counter(rank_pictures(cards).place for cards in HANDS)
    for points in range(10):
        assert found[3 * points + 2] == 66 * 4
        assert found[3 * points + 1] == 12 * single[points]
        assert found[3 * points] == plain[points]
    assert found[30] == 220


def test_ntp_3_2_three_pictures_stand_outside_the_count() -> None:
    assert rank_pictures(hand("KS QH JD")).points is None
    assert rank_pictures(hand("10S 10H 10D")).points == 0
    assert rank_pictures(hand("KS QH 10D")).title == "Double Pictures Zero"
    assert rank_pictures(hand("AS 9H 9D")).title == "Plain Nine"


def test_a_card_is_read_with_t_or_10_in_either_case() -> None:
    for card in DECK:
        text = str(card)
        assert parse_card(text) is card
        assert parse_card(text.lower()) is card
        if card.rank == 10:
            assert parse_card(f"10{card.suit.value}") is card
            assert parse_card(f"10{card.suit.value.lower()}") is card
    assert len({str(card) for card in DECK}) == 52


@pytest.mark.parametrize(
    "text", ["", "A", "AS ", " AS", "1S", "11S", "ASS", "SA", "0D", "A♠", "T", "10", "ſ"]
)
def test_junk_is_no_card(text: str) -> None:
    with pytest.raises(CardError):
        parse_card(text)


def test_a_letter_that_only_upper_case_makes_a_suit_is_no_card() -> None:
    with pytest.raises(CardError):
        parse_card("2ſ")


KNOWN = {rank + suit.value for rank in (*RANKS, "10") for suit in Suit}


@given(st.text(st.characters(codec="ascii"), max_size=4) | st.sampled_from(sorted(KNOWN)))
def test_only_the_52_cards_are_read(text: str) -> None:
    if text.upper() in KNOWN:
        assert str(parse_card(text)) == text.upper().replace("10", "T")
    else:
        with pytest.raises(CardError):
            parse_card(text)


def test_2_2_1_one_deck_deals_no_card_twice() -> None:
    assert repeated_card(DECK) is None
    assert repeated_card(parse_cards(["10D", "AS", "td", "as"])) is parse_card("TD")
    assert repeated_card([]) is None
