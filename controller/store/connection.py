"""Connecting to Redis, and refusing one that would lose what we acknowledge."""

import redis
from redis.exceptions import RedisError

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
    """Refuse a server that answers before the write is on disk, or may evict a meter.

    A server that does not let us read its configuration is judged by what INFO tells.
    """
    try:
        config = {**client.config_get("append*"), **client.config_get("maxmemory-policy")}
    except RedisError:
        if not client.info("persistence").get("aof_enabled"):
            raise StartRefused("Redis does not keep an append-only file: set appendonly yes") from None
        return
    wanted = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
    for name, value in wanted.items():
        if config.get(name) != value:
            raise StartRefused(
                f"Redis has {name} {config.get(name)!r}, the meters need {value!r} "
                "(deploy/redis.conf; JACKPOT_REQUIRE_DURABLE_REDIS=0 accepts losing acknowledged bets)"
            )
