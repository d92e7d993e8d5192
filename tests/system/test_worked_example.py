"""The worked example of docs/wins.md through the whole product: both orders of the deal and of arrival."""

import time
from pathlib import Path
from typing import Any

from controller.clock import to_text
from tests.support.product import Product, running

LINK = """
  - id: {link}
    title: Link
    currency: USD
    pay_tables: [{link}]
    progressive_bet_cents: 10_000
    meters:
      - {{id: {link}, title: Major, reset_cents: 2_000_000, opening_cents: 9_980_000, rate_ppm: 1_000_000}}
"""
PAYS = """
  - id: {link}
    game: MLP
    title: Pays
    lines:
      - {{hand: royal_flush, meter: {link}, share_ppm: 1_000_000, rule: MLP 4.4}}
      - {{hand: straight_flush, meter: {link}, share_ppm: 100_000, rule: MLP 4.4}}
"""
LINKS = ("w", "x", "y", "z")


def floor_file(folder: Path) -> Path:
    """Four links alike, one for each way in which the example can go."""
    pays = "".join(PAYS.format(link=link) for link in LINKS)
    links = "".join(LINK.format(link=link) for link in LINKS)
    names = [(f"{link.upper()}-{table}", link) for link in LINKS for table in "ABC"]
    tables = "".join(f"  - {{id: {name}, game: MLP, link: {link}, boxes: 7}}\n" for name, link in names)
    path = folder / "floor.yaml"
    text = f"version: 1\ncasino: Test\npay_tables:{pays}links:{links}tables:\n{tables}"
    path.write_text(text)
    return path


def moment() -> str:
    time.sleep(0.02)
    return to_text(time.time_ns() // 1000)


class Link:
    """Three tables of one link: A holds the straight flush, B the royal flush, C bets meanwhile."""

    def __init__(self, product: Product, name: str) -> None:
        self.product, self.name = product, name

    def post(self, table: str, path: str, body: object) -> Any:
        name = f"{self.name.upper()}-{table}"
        return self.product.post(f"/v1/tables/{name}{path}", name, body)

    def measure(self) -> None:
        """Two heartbeats each: the second tells the clock."""
        for table in "ABC":
            sent = moment()
            answer = self.post(table, "/heartbeat", {"sent_at": sent, "rounds": []})
            exchange = {"sent_at": sent, "got_at": to_text(time.time_ns() // 1000)}
            exchange |= {name: answer[name] for name in ("received_at", "answered_at")}
            self.post(table, "/heartbeat", {"sent_at": moment(), "rounds": [], "last_exchange": exchange})

    def bets(self, table: str, number: int = 1) -> None:
        box = {"box": 1, "ante_cents": 1000, "progressive_cents": 10_000}
        self.post(table, f"/rounds/{number}/bets", {"bets_closed_at": moment(), "boxes": [box]})

    def play(self, dealt_first: str, arrives_first: str) -> dict[str, int]:
        self.measure()
        self.bets("A")
        self.bets("B")
        tables = [dealt_first, "B" if dealt_first == "A" else "A"]
        dealt = {}
        for table in tables:
            time.sleep(0.3)  # well apart for any machine's clocks
            dealt[table] = moment()
        hands = {"A": "straight_flush", "B": "royal_flush"}
        for table in (arrives_first, "B" if arrives_first == "A" else "A"):
            win = {"box": 1, "dealt_at": dealt[table], "hand": hands[table]}
            self.post(table, "/rounds/1/wins", win)
            if table == arrives_first:
                for number in (1, 2, 3):
                    self.bets("C", number)
        claims = {table: f"{self.name.upper()}-{table}.1.1" for table in "AB"}
        for table, claim in claims.items():
            self.product.post(f"/v1/claims/{claim}/verify", "operator", {"by": "supervisor"})
            self.post(table, "/rounds/1/close", {})
        self.post("C", "/rounds/3/close", {})
        time.sleep(0.3)
        for table in "ABC":
            self.post(table, "/heartbeat", {"sent_at": moment(), "rounds": []})
        return {table: self.awarded(claim) for table, claim in claims.items()}

    def awarded(self, claim: str) -> int:
        def is_awarded() -> bool:
            return bool(self.product.get(f"/v1/claims/{claim}", "operator")["status"] == "awarded")

        self.product.wait_until(is_awarded, f"{claim} is awarded")
        return int(self.product.get(f"/v1/claims/{claim}", "operator")["amount_cents"])


def test_the_worked_example_through_the_whole_product(tmp_path: Path) -> None:
    """$100,000 shown, reset $20,000, $300 more by the second registration."""
    straight_flush_first = {"A": 1_000_000, "B": 9_030_000}
    royal_first = {"A": 203_000, "B": 10_000_000}
    with running(tmp_path / "var", floor_file=str(floor_file(tmp_path))) as product:
        ways = iter(LINKS)
        for dealt_first, expected in (("A", straight_flush_first), ("B", royal_first)):
            for arrives_first in "AB":
                assert Link(product, next(ways)).play(dealt_first, arrives_first) == expected
