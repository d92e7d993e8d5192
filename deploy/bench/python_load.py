"""http_load.c in Python, for a machine without a C compiler: right, but it takes cores from the servers."""

import json
import selectors
import socket
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from deploy.bench.workload import NEXT

GRACE_SECONDS = 15.0


@dataclass
class Connection:
    """One keep-alive connection and its request."""

    socket: socket.socket
    template: list[bytes]
    number: int
    started: float = 0.0
    reply: bytes = b""
    acknowledged: int = 0

    def send(self) -> None:
        """Send the request with its next numbers."""
        request = self.template[0]
        for part in self.template[1:]:
            self.number += 1
            request += b"%d%s" % (self.number, part)
        self.reply = b""
        self.started = time.perf_counter()
        self.socket.sendall(request)


@dataclass
class Load:
    """The loop and what it counts."""

    status: bytes
    marker: bytes
    marker_count: int
    latencies: list[float] = field(default_factory=list)
    in_time: int = 0
    other: int = 0
    complaint: str = ""

    def run(self, connections: list[Connection], seconds: float) -> None:
        """Send until the time is up, then wait for what is under way."""
        selector = selectors.DefaultSelector()
        deadline = time.perf_counter() + seconds
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send()
        busy = len(connections)
        while busy and time.perf_counter() < deadline + GRACE_SECONDS:
            for key, _ in selector.select(0.1):
                connection = key.data
                connection.reply += (
                    connection.socket.recv(1 << 16) or b"HTTP/1.1 000 closed\r\ncontent-length:0\r\n\r\n"
                )
                if not _complete(connection.reply):
                    continue
                self._note(connection, deadline)
                if connection.reply.startswith(b"HTTP/1.1 000") or time.perf_counter() >= deadline:
                    selector.unregister(connection.socket)
                    busy -= 1
                else:
                    connection.send()
        self.other += busy

    def _note(self, connection: Connection, deadline: float) -> None:
        now = time.perf_counter()
        self.latencies.append((now - connection.started) * 1_000)
        good = connection.reply[9:12] == self.status
        if self.marker:
            good = good and connection.reply.count(self.marker) == self.marker_count
        if good:
            connection.acknowledged += 1
            self.in_time += now <= deadline
        else:
            self.other += 1
            self.complaint = self.complaint or connection.reply[:240].decode("ascii", "replace")


def _complete(reply: bytes) -> bool:
    head, end, body = reply.partition(b"\r\n\r\n")
    if not end:
        return False
    length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
    return len(body) >= int(length)


def _templates(content: bytes) -> list[list[bytes]]:
    found = []
    while content:
        length, _, rest = content.partition(b"\n")
        found.append(rest[: int(length)].split(NEXT.encode()))
        content = rest[int(length) :]
    return found


def main(words: list[str]) -> None:
    """The same words and the same line of JSON as http_load."""
    host, port, seconds, first, requests, status, *marker = words
    load = Load(status.encode(), marker[0].encode() if marker else b"", int(marker[1]) if marker else 0)
    connections = [
        Connection(socket.create_connection((host, int(port))), template, int(first) - 1)
        for template in _templates(Path(requests).read_bytes())
    ]
    load.run(connections, float(seconds))
    parts = statistics.quantiles(load.latencies, n=100) if len(load.latencies) > 1 else [0.0] * 99
    figures = {
        "answers": len(load.latencies),
        "other": load.other,
        "per_second": load.in_time / float(seconds),
        "p50_ms": parts[49],
        "p99_ms": parts[98],
        "complaint": load.complaint,
        "acknowledged": [connection.acknowledged for connection in connections],
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
