"""Ten thousand rounds from sixteen clients, each sent one to three times, with workers dying meanwhile."""

import http.client
import json
import os
import random
import signal
import threading
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from controller.ids import LinkId
from models.archive import balances
from models.audit import check_link
from models.engine import Ledger
from models.posting import position_of
from tests.conftest import new_database
from tests.support.product import Product, running

ROUNDS = 10_000
CLIENTS = 16
SEED = 20260102
LINKS = {"TCP": ("three-card", 500, 150_000, 2_000_000), "MLP": ("multi-link", 500, 172_500, 5_000_000)}
TABLES = [f"TCP-{i:02d}" for i in range(1, 9)] + [f"MLP-{i:02d}" for i in range(1, 9)]


class TableClient(threading.Thread):
    """One table: numbers first sent in order, as tables must; one in five is sent twice at the same moment
    by two connections; repeats follow at random moments, in random order.
    """

    def __init__(self, product: Product, table: str, rounds: int, seed: int) -> None:
        super().__init__()
        self.table = table
        self._product = product
        self._rounds = rounds
        self._random = random.Random(seed)
        self._key = product.keys[table]
        self.answers: dict[int, bytes] = {}
        self.bets = 0
        self.statuses: Counter[int] = Counter()
        self.failure: BaseException | None = None

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._product.port, timeout=60)
        second = http.client.HTTPConnection("127.0.0.1", self._product.port, timeout=60)
        try:
            bodies: dict[int, bytes] = {}
            repeats: list[int] = []
            for number in range(1, self._rounds + 1):
                boxes = self._random.sample(range(1, 8), self._random.randint(1, 7))
                self.bets += len(boxes)
                rows = [{"box": box, "progressive_cents": 500} for box in boxes]
                body = {"bets_closed_at": "2026-01-02T03:04:05Z", "boxes": rows}
                bodies[number] = json.dumps(body).encode()
                copies = self._random.randint(0, 2)
                if copies and self._random.random() < 0.3:
                    self._send_at_once(connection, second, number, bodies[number])
                    copies -= 1
                else:
                    self._send(connection, number, bodies[number], 201)
                repeats += [number] * copies
                while repeats and self._random.random() < 0.6:
                    old = repeats.pop(self._random.randrange(len(repeats)))
                    self._send(connection, old, bodies[old], 200)
            self._random.shuffle(repeats)
            for old in repeats:
                self._send(connection, old, bodies[old], 200)
        except BaseException as error:  # noqa: BLE001 - raised again by the main thread
            self.failure = error
        finally:
            connection.close()
            second.close()

    def _send_at_once(
        self, one: http.client.HTTPConnection, two: http.client.HTTPConnection, number: int, body: bytes
    ) -> None:
        """Both copies are on the wire before either is answered: exactly one of them may be new."""
        for connection in (one, two):
            self._request(connection, number, body)
        assert sorted(self._answer(connection, number) for connection in (one, two)) == [200, 201]

    def _send(self, connection: http.client.HTTPConnection, number: int, body: bytes, expected: int) -> None:
        self._request(connection, number, body)
        status = self._answer(connection, number)
        assert status == expected, (self.table, number, status, self.answers[number])

    def _request(self, connection: http.client.HTTPConnection, number: int, body: bytes) -> None:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        connection.request("POST", f"/v1/tables/{self.table}/rounds/{number}/bets", body, headers)

    def _answer(self, connection: http.client.HTTPConnection, number: int) -> int:
        reply = connection.getresponse()
        answer = reply.read()
        self.statuses[reply.status] += 1
        assert self.answers.setdefault(number, answer) == answer, "a retry must get the recorded answer"
        return reply.status


@pytest.mark.timeout(400)
@pytest.mark.parametrize(("database", "kills"), [("sqlite", 0), ("sqlite", 10), ("postgresql", 10)])
def test_ten_thousand_rounds_each_sent_one_to_three_times(
    request: pytest.FixtureRequest, tmp_path: Path, database: str, kills: int
) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    if database == "postgresql":
        url = new_database(request.getfixturevalue("postgres_url"))
    with running(tmp_path, database_url=url) as product:
        clients = [TableClient(product, table, ROUNDS // CLIENTS, SEED + i) for i, table in enumerate(TABLES)]
        for client in clients:
            client.start()
        _kill_workers(product, clients, kills)
        for client in clients:
            client.join()
        failures = [client.failure for client in clients if client.failure]
        assert failures == []
        assert sum(client.statuses[201] for client in clients) == ROUNDS
        assert sum(client.statuses[200] for client in clients) > ROUNDS // 2
        ledger = Ledger(url)
        for prefix, (link, bet, rate, opening) in LINKS.items():
            mine = [client for client in clients if client.table.startswith(prefix)]
            entries = ROUNDS // 2 + 1
            product.wait_until(partial(_ledgered, ledger, link, entries), f"{link} is in the ledger")
            assert check_link(ledger, LinkId(link)) == entries
            held = balances(ledger, LinkId(link))
            staked = bet * sum(client.bets for client in mine)
            assert held[f"meter/{prefix.lower()}-major"] == opening * 10**6 + staked * rate
            assert held["bets"] == -staked * 10**6
            assert sum(held.values()) == 0
        assert product.output.count("worker died") == kills
        ledger.engine.dispose()


def _kill_workers(product: Product, clients: list[TableClient], kills: int) -> None:
    """kill -9, spread over the whole run by its progress."""
    for kill in range(kills):
        goal = ROUNDS * (kill + 1) // (kills + 2)
        product.wait_until(partial(_reached, clients, goal), f"{goal} rounds are recorded")
        product.wait_until(lambda: "worker" in product.children(), "a worker to kill")
        os.kill(product.children()["worker"], signal.SIGKILL)
        product.wait_for_line("worker died", kill + 1)


def _reached(clients: list[TableClient], goal: int) -> bool:
    alive = any(client.is_alive() for client in clients)
    return not alive or sum(client.statuses[201] for client in clients) >= goal


def _ledgered(ledger: Ledger, link: str, entries: int) -> bool:
    return position_of(ledger, LinkId(link)).seq == entries
