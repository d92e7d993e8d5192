"""Tables and people of a test casino, through the HTTP API."""

import time
from datetime import UTC, datetime
from typing import Any, Protocol

from sqlalchemy import select

from api.app import create_app
from api.parts import Parts
from controller.clock import to_text
from controller.games.vocabulary import Game
from controller.ids import LinkId
from deploy.prepare import first_keys
from models.archive import balances
from models.audit import check_link
from models.ledger import AuditEntry, PostingRow

DEALER = ["2D", "7H", "9S"]
COMMUNITY = ["TC", "JC"]
ROYAL = ["QC", "KC", "AC"]
STRAIGHT_FLUSH = ["7C", "8C", "9C"]
NOTHING = ["2S", "5D", "8H"]
NOTHING_TOO = ["3S", "6D", "TH"]
FULL_HOUSE = ["TD", "TS", "JD"]
FOUR_TENS = ["TD", "TH", "TS"]
AKQ_SPADES = ["AS", "KS", "QS"]
AKQ_HEARTS = ["AH", "KH", "QH"]
STRAIGHT = ["4C", "5H", "6S"]


Box = dict[str, Any]
"""A box of a round's bets, where it differs from an Ante and the progressive bet."""


def refused(reply: Any) -> tuple[int, str]:
    """Status and code of a refusal."""
    return reply.status_code, reply.json["code"]


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

    def bets(self, table: str, boxes: int | list[Box] = 1, *, at: float | None = None, **more: Any) -> int:
        """Record a round's bets; its number."""
        number, reply = self.try_bets(table, boxes, at=at, **more)
        assert reply.status_code == 201, reply.json
        return number

    def try_bets(
        self,
        table: str,
        boxes: int | list[Box] = 1,
        *,
        at: float | None = None,
        player: str = "p",
        **more: Any,
    ) -> tuple[int, Any]:
        """A round's bets, closed just now: an Ante and the progressive bet on each box, unless told."""
        at = self.tick(0.003) if at is None else at
        link = self.parts.floor.known().floor.tables_by_id[table].link
        amount = self.parts.floor.known().floor.links_by_id[str(link)].progressive_bet_cents
        number = self.rounds[table] = self.rounds.get(table, 0) + 1
        if isinstance(boxes, int):
            boxes = [{"box": box, "player": f"{player}{table}{box}"} for box in range(1, boxes + 1)]
        rows = [{"ante_cents": 1000, "progressive_cents": amount, **more, **row} for row in boxes]
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

    def result(
        self,
        table: str,
        number: int,
        hands: dict[int, list[str]],
        dealt: float | dict[int, float],
        folded: tuple[int, ...] = (),
        **more: Any,
    ) -> Any:
        """A round's cards; every box plays, but for those folded."""
        own = self.parts.floor.known().floor.tables_by_id[table]
        body: dict[str, Any] = {"dealer": DEALER, "boxes": [], **more}
        if own.game is Game.MLP:
            body["community"] = COMMUNITY
        for box, cards in hands.items():
            at = dealt[box] if isinstance(dealt, dict) else dealt
            decision = "fold" if box in folded else "play"
            row = {"box": box, "cards": cards, "decision": decision, "dealt_at": self.text(table, at)}
            body["boxes"].append(row)
        return self.post(f"/v1/tables/{table}/rounds/{number}/result", body, table)

    def won(self, table: str, hand: str, at: float | None = None, box: int = 1, boxes: int = 1) -> str:
        """A round whose bets are taken, and then a hand of it is dealt and claimed; the claim's name."""
        number = self.bets(table, boxes)
        reply = self.win(table, number, self.tick() if at is None else at, hand, box)
        assert reply.status_code == 201, reply.json
        return str(reply.json["claim"]["id"])

    def dealt(self, hands: dict[str, str]) -> list[str]:
        """Rounds of several tables, then a hand at each in this order, claimed and verified; the claims."""
        for table in hands:
            self.bets(table)
        times = {table: self.tick() for table in hands}
        names = [f"{table}.{self.rounds[table]}.1" for table in hands]
        for table, hand in hands.items():
            assert self.win(table, self.rounds[table], times[table], hand).status_code == 201
        for name in names:
            assert self.verify(name).status_code == 200
        return names

    def over(self, *tables: str) -> None:
        """The tables' last rounds are over, and the tables say so."""
        for table in tables:
            if table in self.rounds:
                assert self.close(table, self.rounds[table]).status_code == 200
        self.beats(*tables)

    def order(self, link: str, *claims: str, reason: str = "by the cameras") -> Any:
        """The House's order."""
        body = {"claims": list(claims), "by": "shift manager", "reason": reason}
        return self.post(f"/v1/links/{link}/order", body)

    def proceed(self, link: str, table: str) -> Any:
        """The House goes on without a table."""
        body = {"table": table, "by": "shift manager", "reason": "its line is down"}
        return self.post(f"/v1/links/{link}/proceed", body)

    def undo(self, link: str, meter: str, *people: str) -> Any:
        """The House undoes a settlement."""
        body = {"by": list(people), "reason": "the cameras say otherwise"}
        return self.post(f"/v1/links/{link}/meters/{meter}/undo", body)

    def pay(self, claim: str, *people: str, **more: Any) -> Any:
        """Named people have paid an award."""
        return self.post(f"/v1/claims/{claim}/pay", {"by": list(people), **more})

    def paid_at_table(self, table: str, claim: str, *people: str) -> Any:
        """The dealer has paid an award."""
        return self.post(f"/v1/tables/{table}/claims/{claim}/paid", {"by": list(people)}, table)

    def void(self, table: str, number: int, at: float | None = None, *people: str) -> Any:
        """The round is void: a card of another set was found."""
        at = self.tick(0.001) if at is None else at
        body = {"reason": "foreign_card", "voided_at": self.text(table, at), "authorised_by": list(people)}
        return self.post(f"/v1/tables/{table}/rounds/{number}/void", body, "operator" if people else table)

    def return_box(self, table: str, number: int, box: int, *people: str) -> Any:
        """One box's bets go back: a wrong number of cards in its hand."""
        body = {"reason": "player_cards_wrong", "reconstructed": False, "boxes": [box]}
        path = f"/v1/tables/{table}/rounds/{number}/boxes/{box}/return"
        return self.post(path, {**body, "authorised_by": list(people)}, "operator" if people else table)

    def suspend(self, table: str, state: str, notice: str = "", boxes_off: tuple[int, ...] = ()) -> Any:
        """The House suspends a table, or resumes it."""
        body = {"state": state, "notice": notice, "boxes_off": boxes_off, "by": "shift", "reason": "a fault"}
        return self.post(f"/v1/tables/{table}/suspend", body)

    def suspend_link(self, link: str, state: str, notice: str = "") -> Any:
        """The House suspends a link, or resumes it."""
        body = {"state": state, "notice": notice, "by": "shift", "reason": "a fault"}
        return self.post(f"/v1/links/{link}/suspend", body)

    def alarms(self) -> set[str]:
        """What the open alarms are about."""
        self.quiet()
        return {alarm["subject"] for alarm in self.get("/v1/alarms")["alarms"]}

    def acknowledge(self, subject: str) -> None:
        """A person has seen an alarm."""
        alarm = next(item for item in self.get("/v1/alarms")["alarms"] if item["subject"] == subject)
        path = f"/v1/links/{alarm['link']}/alarms/{alarm['seq']}/acknowledge"
        assert self.post(path, {"by": "supervisor"}).status_code == 200

    def status(self, claim: str) -> str:
        """How far a claim has come."""
        self.quiet()
        return str(self.claim(claim)["status"])

    def waits(self, claim: str) -> list[str]:
        """What a claim waits for, after a worker has had every chance to settle it."""
        self.worker.once()
        self.quiet()
        found = self.claim(claim)
        assert found["status"] in ("registered", "verified"), found
        return list(found["waits_for"])

    def sign(self, meter: str) -> tuple[int, str]:
        """The value and the status that a sign shows, once the ledger has everything."""
        self.quiet()
        found = self.meter(meter)
        return found["displayed_cents"], found["status"]

    def cents(self, link: str, *accounts: str) -> dict[str, int]:
        """Balances of accounts in the ledger, in cents; all but the empty ones if none is named."""
        self.quiet()
        found = balances(self.parts.ledger, LinkId(link))
        assert not any(value % 1_000_000 for value in found.values()), found
        named = accounts or tuple(name for name, value in found.items() if value)
        return {name: found.get(name, 0) // 1_000_000 for name in named}

    def postings(self, link: str, account: str) -> list[int]:
        """Every amount that was ever posted to an account, in cents."""
        self.quiet()
        query = select(PostingRow.amount).where(PostingRow.link == link, PostingRow.account == account)
        with self.parts.ledger.reading() as session:
            return [amount // 1_000_000 for amount in session.scalars(query.order_by(PostingRow.seq))]

    def kinds(self, link: str) -> list[str]:
        """What the audit log has, by kind."""
        self.quiet()
        query = select(AuditEntry.kind).where(AuditEntry.link == link).order_by(AuditEntry.seq)
        with self.parts.ledger.reading() as session:
            return list(session.scalars(query))

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
