"""The store's part of wins: rounds' ends, decisions about claims, tables' presence."""

from typing import Any

import msgspec
from redis.exceptions import RedisError

from controller.errors import StoreUnavailable
from controller.ids import LinkId
from controller.jackpots.book import Decided
from controller.jackpots.claims import Claim
from controller.jackpots.clocks import Clock
from controller.jackpots.policy import Policy
from controller.jackpots.state import LinkState, parse_state
from controller.store.connection import Client
from controller.store.keys import LinkKeys
from controller.store.link_store import LinkMissing, LinkStore, Record

Address = tuple[LinkId, int, str]
"""A link, its epoch, and the definition that the caller knows."""


class RoundEnd(msgspec.Struct, frozen=True):
    """How a round ends, ready for the store."""

    table: str
    round: int
    body_hash: str
    facts: str
    ledgered_seq: int
    """How far the caller has looked in the ledger for an earlier end."""
    words: list[str]
    """What else happens with it: controller.jackpots.change."""
    version: int | None
    """The version of the link that the words were worked out from; None where they do not depend on it."""


class Done(msgspec.Struct, frozen=True):
    """A decision in the journal."""

    seq: int
    at: int
    epoch: int
    head: str


class NamedRound(msgspec.Struct, frozen=True):
    """A round that a heartbeat names; times by the table's clock."""

    number: int
    bets_closed_at: int


class Beat(msgspec.Struct, frozen=True):
    """What a heartbeat found."""

    taken: bool
    now: int
    highest: int
    seq: int


class WinStore:
    """One method per script."""

    def __init__(self, client: Client, store: LinkStore) -> None:
        self._client = client
        self._store = store

    def state(self, link: LinkId) -> LinkState:
        """The whole link at one instant."""
        keys = LinkKeys.of(link)
        try:
            pipe = self._client.pipeline(transaction=True)
            pipe.time()
            for key in (keys.link, keys.meters, keys.tables, keys.claims):
                pipe.hgetall(key)
            (seconds, micros), head, meters, tables, claims = pipe.execute()
        except RedisError as error:
            raise StoreUnavailable(f"{type(error).__name__}: {error}") from error
        if not head:
            raise LinkMissing(f"Redis does not hold link {link}")
        return parse_state(int(seconds) * 1_000_000 + int(micros), head, meters, tables, claims)

    def apply(self, address: Address, decided: Decided) -> Done | None:
        """Make a decision true; None where what it was made from has changed."""
        link, epoch, definition = address
        reply = self._store.run(
            "change",
            link,
            decided.words,
            epoch=str(epoch),
            definition=definition,
            version=str(decided.version),
            round=decided.round,
            result_seq=str(decided.result_seq or ""),
            kind=decided.kind,
            facts=decided.facts,
        )
        if reply[0] != "done":
            return None
        return Done(int(reply[1]), int(reply[2]), int(reply[3]), reply[4])

    def forget(self, address: Address, version: int, claims: list[Claim]) -> None:
        """Let go of final claims, unless something has been decided since they were looked at."""
        link, epoch, definition = address
        words = [word for claim in claims for word in (claim.id, f"{claim.table}/{claim.round}")]
        self._store.run("forget", link, words, epoch=str(epoch), definition=definition, version=str(version))

    def record_result(
        self, address: Address, end: RoundEnd, *, returns_seq: int | None = None, claimed: bool = False
    ) -> tuple[str, Record | None]:
        """Record a round's result by a caller who knows of these returns, and of claims or none.

        An outcome of the script, and the record that stands.
        """
        seen = {"returns": str(returns_seq or ""), "claimed": "1" if claimed else "0"}
        return _ended(self._store.run("record_result", address[0], end.words, **_named(address, end), **seen))

    def return_box(
        self, address: Address, end: RoundEnd, box: int, *, result_seq: int | None
    ) -> tuple[str, Record | None]:
        """Give one box's bets back."""
        named = _named(address, end) | {"box": str(box), "result_seq": str(result_seq or "")}
        return _ended(self._store.run("return_box", address[0], end.words, **named))

    def void_round(
        self, address: Address, end: RoundEnd, *, highest: int, result_seq: int | None
    ) -> tuple[str, Record | None]:
        """Void a round that the caller judged knowing the table's highest round and the round's result."""
        named = _named(address, end) | {"highest": str(highest), "result_seq": str(result_seq or "")}
        return _ended(self._store.run("void_round", address[0], end.words, **named))

    def heartbeat(
        self,
        address: Address,
        table: str,
        sent_at: int,
        clock: Clock | None,
        rounds: list[NamedRound],
        policy: Policy,
    ) -> Beat:
        """Take a heartbeat in, unless a newer one was here before."""
        link, epoch, definition = address
        reply = self._store.run(
            "heartbeat",
            link,
            [str(word) for r in rounds for word in (r.number, r.bets_closed_at)],
            epoch=str(epoch),
            definition=definition,
            table=table,
            sent_at=str(sent_at),
            offset=str(clock.offset) if clock else "",
            uncertainty=str(clock.uncertainty) if clock else "",
            unmeasured=str(policy.unmeasured_clock),
            grace=str(policy.grace),
            count=str(len(rounds)),
        )
        return Beat(reply[0] == "taken", int(reply[1]), int(reply[2]), int(reply[3]))


def _named(address: Address, end: RoundEnd) -> dict[str, str]:
    _, epoch, definition = address
    return {
        "epoch": str(epoch),
        "definition": definition,
        "version": "" if end.version is None else str(end.version),
        "table": end.table,
        "number": str(end.round),
        "body_hash": end.body_hash,
        "ledgered_seq": str(end.ledgered_seq),
        "facts": end.facts,
    }


def _ended(reply: list[Any]) -> tuple[str, Record | None]:
    return reply[0], Record.parse(reply[1]) if len(reply) > 1 else None
