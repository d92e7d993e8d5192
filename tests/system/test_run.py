"""`jackpot run`: resumes exactly, restarts what dies, says what is wrong, leaves nothing running."""

import json
import os
import signal
import socket
import urllib.request
from pathlib import Path
from typing import Any

from deploy.embedded_redis import free_port
from models.archive import check_link
from models.engine import Ledger
from tests.api.conftest import BETS
from tests.support.product import Product, running


def call(product: Product, path: str, key: str = "", body: object = None) -> Any:
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(product.base + path, data)
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    with urllib.request.urlopen(request, timeout=10) as reply:
        return json.load(reply)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_second_run_resumes_with_every_meter_exact(tmp_path: Path) -> None:
    with running(tmp_path) as product:
        keys = product.keys
        assert len(keys) == 27
        call(product, "/v1/tables/MLP-01/rounds/1/bets", keys["MLP-01"], BETS)
        before = call(product, "/v1/meters")["meters"]
        pids = product.children()
        assert set(pids) == {"redis", "api", "worker", "beat"}
    assert "every meter is on disk" in product.output
    assert not any(alive(pid) for pid in pids.values())
    with running(tmp_path) as again:
        assert again.keys == {}
        after = call(again, "/v1/meters")["meters"]
        assert [(m["id"], m["displayed_cents"], m["seq"]) for m in after] == [
            (m["id"], m["displayed_cents"], m["seq"]) for m in before
        ]
        assert call(again, "/v1/tables/MLP-01/open", keys["MLP-01"], {})["next_round"] == 2


def test_every_part_that_is_killed_is_restarted_and_reported(tmp_path: Path) -> None:
    with running(tmp_path) as product:
        key = product.keys["TCP-01"]
        for number, part in enumerate(("worker", "beat", "api", "redis"), start=1):
            call(product, f"/v1/tables/TCP-01/rounds/{number}/bets", key, BETS)
            os.kill(product.children()[part], signal.SIGKILL)
            product.wait_for_line(f"{part} restarted")
            product.wait_until(lambda: _ready(product), "ready again")
        meter = call(product, "/v1/meters/tcp-major")
        assert meter["displayed_cents"] == 2_000_000 + 4 * 75
        product.wait_until(lambda: _drained(product), "the ledger has everything")
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    assert check_link(ledger, "three-card") == 5  # type: ignore[arg-type]
    ledger.engine.dispose()


def _ready(product: Product) -> bool:
    try:
        return bool(call(product, "/readyz")["ready"])
    except OSError:
        return False


def _drained(product: Product) -> bool:
    with urllib.request.urlopen(f"{product.base}/metrics", timeout=10) as reply:
        text = reply.read().decode()
    return 'jackpot_journal_backlog_entries{link="three-card"} 0.0' in text


def test_killing_the_supervisor_itself_leaves_nothing_running(tmp_path: Path) -> None:
    product = Product(tmp_path, free_port(), {})
    product.wait_ready()
    pids = product.children()
    product.kill()
    product.wait_until(lambda: not any(alive(pid) for pid in pids.values()), "all parts are gone")


def test_a_port_in_use_is_a_clear_message(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        product = Product(tmp_path, other.getsockname()[1], {})
        assert product.wait() == 1
    assert "cannot listen on 127.0.0.1" in product.output
    assert "JACKPOT_PORT" in product.output


def test_two_runs_never_share_a_data_directory(tmp_path: Path) -> None:
    with running(tmp_path):
        second = Product(tmp_path, free_port(), {})
        assert second.wait() == 1
        assert "another `jackpot run` is using" in second.output


def test_a_lost_redis_is_not_replaced_by_default_values(tmp_path: Path) -> None:
    with running(tmp_path) as product:
        call(product, "/v1/tables/TCP-01/rounds/1/bets", product.keys["TCP-01"], BETS)
        product.wait_until(lambda: _drained(product), "the ledger has everything")
    for file in (tmp_path / "redis" / "appendonlydir").iterdir():
        file.unlink()
    again = Product(tmp_path, free_port(), {})
    assert again.wait() == 1
    assert "Redis has lost its data" in again.output


def test_a_wrong_setting_or_floor_is_a_sentence(tmp_path: Path) -> None:
    typo = Product(tmp_path, free_port(), {"JACKPOT_PROT": "1"})
    assert typo.wait() == 1
    assert "unknown setting JACKPOT_PROT" in typo.output
    floor = tmp_path / "floor.yaml"
    floor.write_text("version: 1\ncasino: X\npay_tables: []\nlinks: []\ntables: 3\n")
    wrong = Product(tmp_path, free_port(), {"JACKPOT_FLOOR_FILE": str(floor)})
    assert wrong.wait() == 1
    assert f"{floor}:5: tables: expected `array`, got `int`" in wrong.output
