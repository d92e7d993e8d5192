"""A floor for wins: two tables of each kind of major, amounts that are easy to follow."""

from typing import Any

FLOOR = """
version: 1
casino: Test
pay_tables:
  - id: mlp
    game: MLP
    title: Multi-Link
    lines:
      - {hand: royal_flush, meter: m, share_ppm: 1_000_000, rule: MLP 4.4}
      - {hand: straight_flush, meter: m, share_ppm: 100_000, rule: MLP 4.4}
      - {hand: four_of_a_kind, fixed_cents: 200_000, rule: MLP 4.4}
      - {hand: full_house, fixed_cents: 20_000, rule: MLP 4.4}
  - id: tcp
    game: TCP
    title: Three Card
    lines:
      - {hand: akq_spades, meter: t, share_ppm: 1_000_000, envy_cents: 25_000, rule: TCP 4.4}
      - {hand: akq_other_suit, fixed_cents: 125_000, envy_cents: 5_000, rule: TCP 4.4}
      - {hand: straight, fixed_cents: 1_500, rule: TCP 4.4}
links:
  - id: multi
    title: Multi
    currency: USD
    pay_tables: [mlp]
    progressive_bet_cents: 10_000
    meters:
      - {id: m, title: Major, reset_cents: 2_000_000, opening_cents: 10_000_000, rate_ppm: 1_000_000}
    policy: {POLICY}
  - id: three
    title: Three
    currency: USD
    pay_tables: [tcp]
    progressive_bet_cents: 500
    meters:
      - {id: t, title: Major, reset_cents: 100_000, opening_cents: 500_000, rate_ppm: 150_000,
         reserve_ppm: 30_000}
    policy: {POLICY}
tables:
  - {id: A, game: MLP, link: multi, boxes: 7}
  - {id: B, game: MLP, link: multi, boxes: 7}
  - {id: C, game: MLP, link: multi, boxes: 7}
  - {id: D, game: MLP, link: multi, boxes: 7}
  - {id: P, game: TCP, link: three, boxes: 7}
  - {id: Q, game: TCP, link: three, boxes: 7}
"""


def floor_text(policy: dict[str, Any] | None = None) -> str:
    """The floor, with a policy for both links."""
    own = ", ".join(f"{name}: {value}" for name, value in (policy or {}).items())
    return FLOOR.replace("{POLICY}", "{" + own + "}")
