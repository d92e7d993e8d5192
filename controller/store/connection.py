"""Connecting to Redis, and refusing one that would lose what we acknowledge."""

import threading

import redis
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as TooSlow

from controller.errors import StartRefused

Client = redis.Redis

CONNECT_SECONDS = 2
ANSWER_SECONDS = 5


def connect(url: str) -> Client:
    """A client whose every wait is bounded; replies are text."""
    return redis.Redis.from_url(
        url,
        decode_responses=True,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=ANSWER_SECONDS,
        health_check_interval=15,
    )


def require_durable(client: Client) -> None:
    """Refuse a server that answers before the write is on disk, or may evict a meter."""
    try:
        config = {**client.config_get("*append*"), **client.config_get("maxmemory-policy")}
    except ResponseError as error:
        raise StartRefused(
            f"Redis does not let us read whether it is durable ({error}); if you know that it is, "
            "set JACKPOT_REQUIRE_DURABLE_REDIS=0"
        ) from error
    except RedisError as error:
        raise StartRefused(f"Redis cannot be reached: {error}") from error
    wanted = {
        "appendonly": "yes",
        "appendfsync": "always",
        "no-appendfsync-on-rewrite": "no",
        "maxmemory-policy": "noeviction",
    }
    for name, value in wanted.items():
        if config.get(name) != value:
            raise StartRefused(
                f"Redis has {name} {config.get(name)!r}, the meters need {value!r} "
                "(deploy/redis.conf; JACKPOT_REQUIRE_DURABLE_REDIS=0 accepts losing acknowledged bets)"
            )


class PinnedConnections:
    """Runs scripts on a connection that belongs to the thread.

    The client's own path costs more than our scripts do: it borrows from a pool, probes the socket
    and walks a retry policy, and every system call on the way gives other threads the interpreter.
    """

    def __init__(self, client: Client) -> None:
        self._pool = client.connection_pool
        self._own = threading.local()

    def evalsha(self, sha: str, numkeys: int, *keys_and_args: str) -> object:
        """Run a script that the server knows."""
        return self._command("EVALSHA", sha, str(numkeys), *keys_and_args)

    def script_load(self, script: str) -> object:
        """Make a script known to the server."""
        return self._command("SCRIPT", "LOAD", script)

    def _command(self, *words: str) -> object:
        try:
            return self._once(words)
        except TooSlow:
            raise
        except Disconnected:
            # A server that restarted has left us a dead connection. Trying again is safe even if the
            # first attempt arrived: a round is recorded once, whatever comes twice.
            return self._once(words)

    def _once(self, words: tuple[str, ...]) -> object:
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = self._pool.make_connection()
        try:
            connection.send_command(*words, check_health=False)
            return connection.read_response()
        except (Disconnected, TooSlow, OSError):
            connection.disconnect()
            raise
