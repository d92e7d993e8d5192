"""The progressive bet: what each hand is entitled to, and who receives an envy bonus."""

from collections.abc import Iterator

import msgspec

from controller.games.pay_tables import HAND_TITLES, PayLine, PayTable
from controller.games.rule_sets import RuleSet
from controller.games.settlement import Entitlement, EnvyBonus, Seat
from controller.games.vocabulary import Bet, Point
from controller.money import PPM, decimal_text


class ProgressiveHand(msgspec.Struct, frozen=True, kw_only=True):
    """A box as the progressive sees it, after decisions and invalidations."""

    box: int
    player: str | None
    stake_cents: int
    hand: str | None
    """The progressive hand; None also where the cards are unknown."""
    has_ante: bool
    folded: bool


def settle_progressive(
    seat: Seat, own: ProgressiveHand, pay_table: PayTable, *, forfeited: Point | None
) -> Entitlement | None:
    """End one progressive bet; the entitlement of a paying hand."""
    if forfeited is not None:
        seat.forfeited(Bet.PROGRESSIVE, own.stake_cents, forfeited)
        return None
    line = pay_table.line_of(own.hand)
    if line is None:
        seat.lost(Bet.PROGRESSIVE, own.stake_cents, Point.PROGRESSIVE, "no paying hand")
        return None
    amount = line.amount_cents(own.stake_cents)
    wager = own.stake_cents if line.wager_returned else 0
    seat.progressive(own.stake_cents, wager + (amount or 0), line.rule, _award(line, amount, wager))
    return Entitlement(
        box=own.box,
        player=own.player,
        hand=line.hand,
        amount_cents=amount,
        meter=line.meter,
        share_ppm=line.share_ppm,
        rule=line.rule,
    )


def _award(line: PayLine, amount: int | None, wager: int) -> str:
    back = f", the wager of {decimal_text(wager)} is returned" if wager else ""
    title = HAND_TITLES[line.hand]
    if amount is not None:
        odds = f"{line.odds_to_one} to 1, " if line.odds_to_one else ""
        return f"{title} wins {odds}{decimal_text(amount)}{back}"
    whole, rest = divmod((line.share_ppm or 0) * 100, PPM)
    percent = f"{whole}.{rest:06d}".rstrip("0").rstrip(".")
    return f"{title} wins {percent}% of the jackpot, paid in the order of the deal{back}"


def envy_bonuses(rules: RuleSet, pay_table: PayTable, hands: list[ProgressiveHand]) -> Iterator[EnvyBonus]:
    """Every box with a progressive bet receives for each other player's top hand (TCP 4.7, 4.8).

    The hand needs an Ante and no progressive bet; a folded box neither triggers nor receives; boxes
    of one player do not pay each other. Boxes without a player count as different players.
    """
    for trigger in hands:
        line = pay_table.line_of(trigger.hand)
        if line is None or not line.envy_cents or not trigger.has_ante or trigger.folded:
            continue
        for receiver in hands:
            same = receiver.box == trigger.box or (
                receiver.player is not None and receiver.player == trigger.player
            )
            if receiver.stake_cents and not receiver.folded and not same:
                yield EnvyBonus(
                    box=receiver.box,
                    player=receiver.player,
                    amount_cents=line.envy_cents,
                    hand_box=trigger.box,
                    hand=line.hand,
                    rule=rules.rule(Point.ENVY),
                )
