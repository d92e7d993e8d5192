"""A floor for wins: amounts that are easy to follow, a cap, two levels, fixed awards that a meter pays."""

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
  - id: capped
    game: MLP
    title: Multi-Link with a cap
    lines:
      - {hand: royal_flush, meter: c, share_ppm: 1_000_000, rule: MLP 4.4}
      - {hand: straight_flush, meter: c, share_ppm: 100_000, rule: MLP 4.4}
  - id: gtp
    game: GTP
    title: Progressive
    lines:
      - {hand: akq_spades, meter: g, share_ppm: 1_000_000, wager_returned: true, rule: GTP}
      - {hand: akq_other_suit, meter: g, fixed_cents: 150_000, funded_by: meter, wager_returned: true,
         rule: GTP}
      - {hand: straight_flush, odds_to_one: 100, wager_returned: true, rule: GTP}
      - {hand: straight, fixed_cents: 1_500, wager_returned: true, rule: GTP}
  - id: levels
    game: MLP
    title: Two levels
    lines:
      - {hand: royal_flush, meter: grand, share_ppm: 1_000_000, rule: MLP 4.4}
      - {hand: straight_flush, meter: mini, share_ppm: 1_000_000, rule: MLP 4.4}
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
  - id: capped
    title: Capped
    currency: USD
    pay_tables: [capped]
    progressive_bet_cents: 10_000
    meters:
      - {id: c, title: Major, reset_cents: 2_000_000, opening_cents: 10_000_000, rate_ppm: 900_000,
         reserve_ppm: 100_000, cap_cents: 10_027_000}
    policy: {POLICY}
  - id: gtp
    title: Progressive
    currency: USD
    pay_tables: [gtp]
    progressive_bet_cents: 1_000
    meters:
      - {id: g, title: Major, reset_cents: 100_000, opening_cents: 200_000, rate_ppm: 500_000}
    policy: {POLICY}
  - id: levels
    title: Two levels
    currency: USD
    pay_tables: [levels]
    progressive_bet_cents: 1_000
    meters:
      - {id: grand, title: Grand, reset_cents: 500_000, opening_cents: 1_000_000, rate_ppm: 300_000}
      - {id: mini, title: Mini, reset_cents: 50_000, opening_cents: 60_000, rate_ppm: 200_000}
    policy: {POLICY}
tables:
  - {id: A, game: MLP, link: multi, boxes: 7}
  - {id: B, game: MLP, link: multi, boxes: 7}
  - {id: C, game: MLP, link: multi, boxes: 7}
  - {id: D, game: MLP, link: multi, boxes: 7}
  - {id: P, game: TCP, link: three, boxes: 7}
  - {id: Q, game: TCP, link: three, boxes: 7}
  - {id: E, game: MLP, link: capped, boxes: 7}
  - {id: F, game: MLP, link: capped, boxes: 7}
  - {id: J, game: MLP, link: capped, boxes: 7}
  - {id: K, game: MLP, link: levels, boxes: 7}
  - {id: G, game: GTP, link: gtp, boxes: 7}
  - {id: H, game: GTP, link: gtp, boxes: 7}
"""


def floor_text(policy: dict[str, Any] | None = None) -> str:
    """The floor, with a policy for every link."""
    own = ", ".join(f"{name}: {value}" for name, value in (policy or {}).items())
    return FLOOR.replace("{POLICY}", "{" + own + "}")
