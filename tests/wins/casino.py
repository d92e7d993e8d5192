"""Tables and people of a test casino, through the HTTP API."""

import time
from datetime import UTC, datetime
from typing import Any, Protocol

from api.app import create_app
from api.parts import Parts
from controller.clock import to_text
from controller.ids import LinkId
from deploy.prepare import first_keys
from models.archive import balances
from models.audit import check_link

DEALER = ["2D", "7H", "9S"]
COMMUNITY = ["TC", "JC"]
ROYAL = ["QC", "KC", "AC"]
STRAIGHT_FLUSH = ["7C", "8C", "9C"]
NOTHING = ["2S", "5D", "8H"]
AKQ_SPADES = ["AS", "KS", "QS"]


class Attendant(Protocol):
    """Whoever drains and settles."""

    def once(self) -> None:
        """Attend to every link until nothing is due."""


class Casino:
    """Everything that tables, supervisors and the House do.

    Times are seconds from the casino's opening and pass for real: the store judges by its own clock, so a
    hand must be dealt after its bets were taken and before it is claimed. `tick` lets a moment pass.
    """

    def __init__(self, parts: Parts, floor: str, worker: Attendant) -> None:
        self.parts = parts
        self.worker = worker
        self.client = create_app(parts).test_client()
        self.keys = first_keys(parts.settings, floor)
        self.start = int(datetime.now(UTC).timestamp() * 1_000_000)
        self.rounds: dict[str, int] = {}
        self.clock: dict[str, int] = {}
        """How far each table's clock is behind ours, in microseconds."""

    def text(self, table: str, seconds: float) -> str:
        """An instant as the table's clock shows it."""
        return to_text(self.start + int(seconds * 1_000_000) - self.clock.get(table, 0))

    def tick(self, seconds: float = 0.01) -> float:
        """Let a moment pass; the time in the middle of it."""
        time.sleep(seconds)
        middle = (time.time_ns() // 1000 - self.start) / 1_000_000
        time.sleep(seconds)
        return middle

    def post(self, path: str, body: object = None, key: str = "operator") -> Any:
        """A request by a table or the House."""
        return self.client.post(path, json=body, headers={"Authorization": f"Bearer {self.keys[key]}"})

    def get(self, path: str) -> Any:
        """A question by the House."""
        return self.client.get(path, headers={"Authorization": f"Bearer {self.keys['operator']}"}).json

    def measure(self, *tables: str, error_us: int = 1000) -> None:
        """Heartbeats that tell us the tables' clocks to within `error_us`."""
        for table in tables:
            assert self._measure(table, error_us).status_code == 200

    def _measure(self, table: str, error_us: int) -> Any:
        at = self.tick(0.001)
        sent = self.start + int(at * 1_000_000)
        exchange = {
            "sent_at": to_text(sent - self.clock.get(table, 0)),
            "received_at": to_text(sent + error_us),
            "answered_at": to_text(sent + error_us),
            "got_at": to_text(sent + 2 * error_us - self.clock.get(table, 0)),
        }
        return self.beat(table, at, last_exchange=exchange)

    def beats(self, *tables: str) -> None:
        """Heartbeats of tables that have nothing open, well after everything that was dealt."""
        at = self.tick(0.02)
        for table in tables:
            assert self.beat(table, at).status_code == 200

    def beat(self, table: str, at: float, rounds: list[tuple[int, float]] | None = None, **more: Any) -> Any:
        """A heartbeat that names rounds by number and closing time."""
        named = [{"round": n, "bets_closed_at": self.text(table, closed)} for n, closed in rounds or []]
        body = {"sent_at": self.text(table, at), "rounds": named, **more}
        return self.post(f"/v1/tables/{table}/heartbeat", body, table)

    def bets(self, table: str, boxes: int = 1, *, at: float | None = None, **more: Any) -> int:
        """Record a round's bets; its number."""
        number, reply = self.try_bets(table, boxes, at=at, **more)
        assert reply.status_code == 201, reply.json
        return number

    def try_bets(
        self, table: str, boxes: int = 1, *, at: float | None = None, player: str = "p", **more: Any
    ) -> tuple[int, Any]:
        """A round's bets, closed just now: an Ante and the progressive bet on each box."""
        at = self.tick(0.003) if at is None else at
        link = self.parts.floor.known().floor.tables_by_id[table].link
        amount = self.parts.floor.known().floor.links_by_id[str(link)].progressive_bet_cents
        number = self.rounds[table] = self.rounds.get(table, 0) + 1
        rows = [
            {
                "box": box,
                "player": f"{player}{table}{box}",
                "ante_cents": 1000,
                "progressive_cents": amount,
                **more,
            }
            for box in range(1, boxes + 1)
        ]
        body = {"bets_closed_at": self.text(table, at), "boxes": rows}
        return number, self.post(f"/v1/tables/{table}/rounds/{number}/bets", body, table)

    def win(self, table: str, number: int, at: float, hand: str, box: int = 1) -> Any:
        """A claim by the name of the hand."""
        body = {"box": box, "dealt_at": self.text(table, at), "hand": hand}
        return self.post(f"/v1/tables/{table}/rounds/{number}/wins", body, table)

    def close(self, table: str, number: int) -> Any:
        """The round is over."""
        return self.post(f"/v1/tables/{table}/rounds/{number}/close", None, table)

    def verify(self, claim: str, by: str = "supervisor") -> Any:
        """A supervisor has seen the hand."""
        return self.post(f"/v1/claims/{claim}/verify", {"by": by})

    def reject(self, claim: str) -> Any:
        """A claim is not what it says."""
        return self.post(f"/v1/claims/{claim}/reject", {"by": "supervisor", "reason": "miscalled"})

    def claim(self, claim: str) -> Any:
        """A claim as it stands."""
        return self.get(f"/v1/claims/{claim}")

    def settled(self, *claims: str) -> list[int]:
        """Wait until claims are awarded; their amounts."""
        deadline = time.monotonic() + 20
        while True:
            found = [self.claim(name) for name in claims]
            if all(item.get("status") in ("awarded", "paid") for item in found):
                self.quiet()  # signs follow when the entry is let go of
                return [item["amount_cents"] for item in found]
            assert time.monotonic() < deadline, found
            time.sleep(0.01)

    def quiet(self) -> None:
        """Wait until the ledger has everything and nothing is due."""
        deadline = time.monotonic() + 20
        for link in self.parts.floor.known().floor.link_ids:
            while True:
                head = self.parts.store.head(link)
                if head is not None and self.parts.store.released(link) >= head.seq:
                    break
                assert time.monotonic() < deadline, f"{link} is not drained"
                time.sleep(0.005)

    def meter(self, name: str) -> Any:
        """A meter as a sign sees it."""
        return self.get(f"/v1/meters/{name}")

    def audit(self) -> None:
        """The ledger sums to zero and the chain is intact."""
        self.quiet()
        for link in self.parts.floor.known().floor.link_ids:
            check_link(self.parts.ledger, link)
            assert sum(balances(self.parts.ledger, LinkId(link)).values()) == 0
