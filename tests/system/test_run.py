"""`jackpot run`: resumes exactly, restarts what dies, says what is wrong, leaves nothing running."""

import os
import signal
import socket
import subprocess
import sys
import urllib.error
from functools import partial
from importlib.resources import files
from pathlib import Path

from controller.ids import LinkId
from models.audit import check_link
from models.engine import Ledger
from tests.support.product import Product, running


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def refused(product: Product) -> str:
    """What a product says that does not start."""
    product.launch()
    assert product.wait() == 1
    return product.output


def test_a_second_run_resumes_with_every_meter_exact(tmp_path: Path) -> None:
    with running(tmp_path) as product:
        keys = product.keys
        assert len(keys) == 27
        product.bet("MLP-01", 3)
        before = product.get("/v1/meters")["meters"]
        pids = product.children()
        assert set(pids) == {"redis", "api", "worker", "beat"}
    assert "every meter is on disk" in product.output
    assert not any(alive(pid) for pid in pids.values())
    with running(tmp_path) as again:
        assert again.keys == {}
        after = again.get("/v1/meters")["meters"]
        assert [(m["id"], m["displayed_cents"], m["seq"]) for m in after] == [
            (m["id"], m["displayed_cents"], m["seq"]) for m in before
        ]
        again.keys = keys
        assert again.post("/v1/tables/MLP-01/open", "MLP-01", {})["next_round"] == 2


def test_every_part_that_is_killed_is_restarted_and_reported(tmp_path: Path) -> None:
    with running(tmp_path) as product:
        for part in ("worker", "beat", "api", "redis"):
            product.bet("TCP-01", 1)
            os.kill(product.children()[part], signal.SIGKILL)
            product.wait_for_line(f"{part} died (signal SIGKILL)")
            product.wait_for_line(f"{part} restarted")
            product.wait_until(product.ready, "ready again")
        assert product.get("/v1/meters/tcp-major")["displayed_cents"] == 2_000_000 + 4 * 75
        product.wait_until(lambda: product.drained("three-card"), "the ledger has everything")
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    assert check_link(ledger, LinkId("three-card")) == 5
    ledger.engine.dispose()


def test_killing_the_supervisor_itself_leaves_nothing_running(tmp_path: Path) -> None:
    product = Product(tmp_path)
    product.start()
    pids = product.children()
    product.kill()
    product.wait_until(lambda: not any(alive(pid) for pid in pids.values()), "all parts are gone")


def test_a_port_in_use_is_a_clear_message(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        message = refused(Product(tmp_path, other.getsockname()[1]))
    assert "cannot listen on 127.0.0.1" in message
    assert "JACKPOT_PORT" in message


def test_two_runs_never_share_a_data_directory(tmp_path: Path) -> None:
    with running(tmp_path):
        assert "another `jackpot run` is using" in refused(Product(tmp_path))


def test_a_lost_redis_is_not_replaced_by_default_values(tmp_path: Path) -> None:
    with running(tmp_path) as product:
        product.bet("TCP-01", 1)
        product.wait_until(lambda: product.drained("three-card"), "the ledger has everything")
    for file in (tmp_path / "redis" / "appendonlydir").iterdir():
        file.unlink()
    assert "Redis has lost its data" in refused(Product(tmp_path))


def test_a_server_that_cannot_be_reached_is_a_sentence(tmp_path: Path) -> None:
    assert "Redis cannot be reached" in refused(Product(tmp_path, redis_url="redis://127.0.0.1:1"))
    unreachable = "postgresql://127.0.0.1:1/nothing"
    message = refused(Product(tmp_path, database_url=unreachable))
    assert "jackpot run: " in message
    assert "Traceback" not in message


def test_a_floor_is_put_in_force_while_it_runs(tmp_path: Path) -> None:
    content = (files("deploy") / "floor.yaml").read_text(encoding="utf-8")
    floor = tmp_path / "floor.yaml"
    floor.write_text(content + "  - {id: TCP-09, game: TCP, link: three-card, boxes: 7}\n", encoding="utf-8")
    with running(tmp_path) as product:
        product.bet("TCP-01", 1)
        environment = {**os.environ, "JACKPOT_DATA_DIR": str(tmp_path)}
        command = [sys.executable, "-m", "deploy.cli", "floor", "apply", str(floor)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout == "Floor version 2 is in force; changed: three-card.\n", done.stderr
        product.keys["TCP-09"] = product.keys["operator"]
        product.wait_until(partial(_knows, product, "TCP-09"), "every process knows the new table")
        assert product.bet("TCP-09", 1)["meters"] == [{"id": "tcp-major", "displayed_cents": 2_000_150}]


def _knows(product: Product, table: str) -> bool:
    """Asked so often that every API process has answered."""
    try:
        return all(product.post(f"/v1/tables/{table}/open", table, {}) for _ in range(20))
    except urllib.error.HTTPError as error:
        error.close()
        return False


def test_a_wrong_setting_or_floor_is_a_sentence(tmp_path: Path) -> None:
    assert "unknown setting JACKPOT_PROT" in refused(Product(tmp_path, prot="1"))
    floor = tmp_path / "floor.yaml"
    floor.write_text("version: 1\ncasino: X\npay_tables: []\nlinks: []\ntables: 3\n")
    message = refused(Product(tmp_path, floor_file=str(floor)))
    assert f"{floor}:5: tables: expected `array`, got `int`" in message
