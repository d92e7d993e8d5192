"""The meters' store: one method per script, and the reads. Knows Redis, knows no game and no HTTP."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import msgspec
from redis.exceptions import RedisError

from controller.betting.locked_bets import LockedRound
from controller.errors import Code, JackpotError, LedgerMismatch, Refused, StoreUnavailable
from controller.floor.definition import Floor, Link
from controller.ids import LinkId
from controller.jackpots.amounts import Pot, shown_while_frozen
from controller.jackpots.claims import claim_id
from controller.jackpots.policy import DEFAULT_POLICY, Policy
from controller.jackpots.state import parse_pots
from controller.journal.entry import Entry, parse_amounts
from controller.money import to_micro
from controller.store.connection import Client, PinnedConnections
from controller.store.keys import LinkKeys
from controller.store.scripts import load_scripts

ROUNDS_PER_CALL = 200
"""A script runs alone: a longer call would make other tables wait. Well below Lua's stack limit."""


BOXES_MAX = 12
"""No layout has more."""
_BOX_TEXTS = tuple(str(box) for box in range(BOXES_MAX + 1))


class StaleDefinition(JackpotError):
    """The link is in another epoch or has another definition than the caller knows. Nothing was done."""

    def __init__(self, link: LinkId, epoch: str, definition: str) -> None:
        super().__init__(f"link {link} is in epoch {epoch} with definition {definition[:12]}")


class LinkMissing(StoreUnavailable):
    """Redis does not hold this link. Never created on the way: that would be a default value."""


@dataclass(frozen=True, slots=True)
class LinkHead:
    """How far a link's journal has come in Redis."""

    epoch: int
    definition: str
    status: str
    reason: str
    seq: int
    at: int
    head: str


class Record(msgspec.Struct, frozen=True):
    """The recorded answer to a round's bets."""

    body_hash: str
    epoch: int
    seq: int
    at: int
    head: str
    after: list[tuple[str, int]]
    facts: str

    @classmethod
    def parse(cls, text: str) -> "Record":
        """Read what contribute.lua wrote."""
        body_hash, epoch, seq, at, head, after, facts = text.split("\n")
        return cls(body_hash, int(epoch), int(seq), int(at), head, parse_amounts(after), facts)


class RoundRecords(msgspec.Struct, frozen=True):
    """What the store holds of a round: its bets, and how it ended."""

    bets: Record | None
    result: Record | None
    void: Record | None
    returns: list[Record]
    """Boxes whose bets went back."""
    claimed: bool
    """Whether the store holds claims of the round."""
    highest: int
    """The table's highest recorded round."""


class RoundOutcome(msgspec.Struct, frozen=True):
    """What became of one round: an outcome of contribute.lua, with the record where there is one."""

    outcome: str
    record: Record | None = None
    highest: int | None = None


@dataclass(frozen=True, slots=True)
class MeterState:
    """A meter as it stands, and as signs may show it: only what the ledger has."""

    pot: Pot
    link: str
    status: str
    waiting: str
    suspension: str
    notices: str
    seq: int
    at: int
    released: int

    @property
    def id(self) -> str:
        """Its name."""
        return self.pot.id

    @property
    def value(self) -> int:
        """The balance, in micro-cents."""
        return self.pot.value

    @property
    def shown_status(self) -> str:
        """What signs say about it."""
        if self.status == "closed" or self.pot.effect_seq <= self.released:
            return self.status
        return self.pot.shown_before.partition(":")[0]

    @property
    def shown_value(self) -> int:
        """What signs show, in micro-cents: a win's or an award's effect only once it is in the ledger."""
        if self.pot.effect_seq > self.released:
            before = self.pot.shown_before.partition(":")[2]
            if before:
                return int(before)
        return shown_while_frozen(self.pot) if self.pot.frozen else self.pot.value


class LinkStore:
    """Commands and reads over the links' keys."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._scripts_on = PinnedConnections(client)
        self._scripts = load_scripts()

    def contribute(
        self,
        link: LinkId,
        epoch: int,
        definition: str,
        groups: list[list[LockedRound]],
        policy: Policy = DEFAULT_POLICY,
    ) -> list[list[RoundOutcome]]:
        """Record rounds, group by group: within a group, what follows a refusal is not attempted."""
        rest = [
            item
            for number, group in enumerate(groups)
            for r in group
            for item in (
                str(number),
                r.table,
                str(r.round),
                r.body_hash,
                str(len(r.facts.progressive_boxes)),
                str(r.closed_at),
                ",".join([_BOX_TEXTS[box.box] for box in r.facts.boxes]),
                r.facts_text,
            )
        ]
        count = sum(map(len, groups))
        reply = self.run(
            "contribute",
            link,
            rest,
            epoch=str(epoch),
            definition=definition,
            count=str(count),
            grace=str(policy.grace),
            unmeasured=str(policy.unmeasured_clock),
        )
        outcomes = iter([_round_outcome(outcome, record) for outcome, record in reply[1]])
        return [[next(outcomes) for _ in group] for group in groups]

    def configure(
        self, floor: Floor, link: LinkId, epoch: int, expected: str, facts: str, *, dry_run: bool = False
    ) -> bool:
        """Put a link's definition in force; whether that changed anything (or would)."""
        own: Link | None = floor.links_by_id.get(link)
        meters = own.meters if own else []
        rest = [
            item
            for m in meters
            for item in (
                m.id,
                str(m.rate_ppm),
                str(m.reserve_ppm),
                str(to_micro(m.reset_cents)),
                str(to_micro(m.cap_cents)) if m.cap_cents is not None else "",
                str(to_micro(m.opening_cents)),
            )
        ]
        reply = self.run(
            "configure",
            link,
            rest,
            epoch=str(epoch),
            definition=floor.digest(link),
            expected_definition=expected,
            bet_cents=str(own.progressive_bet_cents if own else 0),
            facts=facts,
            meter_count=str(len(meters)),
            dry_run="1" if dry_run else "0",
        )
        if reply[0] == "parameter_fixed":
            meter, field, in_force = reply[1:4]
            raise JackpotError(
                f"link {link}{f', meter {meter}' if meter else ''}: {field} is in force as {in_force!r}; "
                "a floor file cannot change the money parameters of a commissioned meter"
            )
        return bool(reply[0] != "unchanged")

    def open_table(
        self, link: LinkId, epoch: int, definition: str, table: str, facts: str, grace: int
    ) -> list[str]:
        """Journal that a table has opened: next round, sequence, epoch, head."""
        return self.run(
            "open_table",
            link,
            epoch=str(epoch),
            definition=definition,
            table=table,
            grace=str(grace),
            facts=facts,
        )[1:]

    def raise_alarm(self, link: LinkId, subject: str, facts: str) -> int | None:
        """Raise an alarm unless one of this subject is open; its sequence number if raised."""
        reply = self.run("raise_alarm", link, subject=subject, facts=facts)
        return int(reply[1]) if reply[0] == "raised" else None

    def acknowledge_alarm(self, link: LinkId, subject: str, seq: int, facts: str) -> int | None:
        """Acknowledge an open alarm; the sequence number of that, or None if it is not open."""
        reply = self.run("acknowledge_alarm", link, subject=subject, seq=str(seq), facts=facts)
        return int(reply[1]) if reply[0] == "acknowledged" else None

    def close_link(self, link: LinkId, reason: str, facts: str) -> None:
        """Fail closed: no more commands on this link."""
        self.run("close_link", link, reason=reason, facts=facts)

    def release(self, link: LinkId, ledgered_seq: int, limit: int) -> int:
        """Let go of entries that the ledger has; how many went."""
        script = self._scripts["release"]
        with _guarded():
            reply = script.call(
                self._scripts_on, LinkKeys.of(link), ledgered_seq=str(ledgered_seq), limit=str(limit)
            )
        return cast("int", reply)

    def head(self, link: LinkId) -> LinkHead | None:
        """How far the link has come, or None where Redis does not hold it."""
        names = ("epoch", "definition", "status", "reason", "seq", "at", "head")
        with _guarded():
            values = cast("list[str | None]", self._client.hmget(LinkKeys.of(link).link, names))
        if values[0] is None:
            return None
        epoch, definition, status, reason, seq, at, head = (value or "" for value in values)
        return LinkHead(int(epoch), definition, status, reason, int(seq), int(at), head)

    def released(self, link: LinkId) -> int:
        """Up to which entry the ledger has the journal for sure."""
        with _guarded():
            return int(cast("str | None", self._client.hget(LinkKeys.of(link).link, "released")) or 0)

    def journal_after(self, link: LinkId, seq: int, limit: int) -> list[Entry]:
        """The next entries of the journal that the store still holds."""
        with _guarded():
            found = self._client.xrange(LinkKeys.of(link).stream, min=f"{seq + 1}-0", count=limit)
        return [Entry.from_stream(link, stream_id, fields) for stream_id, fields in _entries(found)]

    def backlog(self, link: LinkId) -> tuple[int, int | None]:
        """How many entries wait for the ledger, and when the oldest was written."""
        with _guarded():
            pipe = self._client.pipeline(transaction=False)
            pipe.xlen(LinkKeys.of(link).stream)
            pipe.xrange(LinkKeys.of(link).stream, count=1)
            length, first = pipe.execute()
        oldest = next(_entries(first), None)
        return length, int(oldest[1]["at"]) if oldest else None

    def has_work(self, link: LinkId) -> bool:
        """Whether a worker has anything to look at: entries to drain, or claims that may have become due."""
        keys = LinkKeys.of(link)
        with _guarded():
            pipe = self._client.pipeline(transaction=False)
            pipe.xlen(keys.stream)
            pipe.hlen(keys.claims)
            return any(pipe.execute())

    def record(self, link: LinkId, table: str, number: int) -> Record | None:
        """The recorded bets of a round, if Redis still holds them."""
        return self.records(link, table, number).bets

    def records(self, link: LinkId, table: str, number: int) -> RoundRecords:
        """What Redis still holds of a round, and the table's highest round, at one instant."""
        keys, field = LinkKeys.of(link), f"{table}/{number}"
        with _guarded():
            pipe = self._client.pipeline(transaction=True)
            pipe.hmget(keys.rounds, field, *(f"{field}/{end}" for end in ("result", "void", "returns")))
            pipe.hget(keys.tables, table)
            pipe.hmget(keys.claims, [claim_id(table, number, box) for box in range(1, BOXES_MAX + 1)])
            (*texts, returns), highest, claims = pipe.execute()
        bets, result, void = (Record.parse(text) if text else None for text in texts)
        returned = [Record.parse(text) for text in (returns or "").split("\r") if text]
        return RoundRecords(bets, result, void, returned, any(claims), int(highest or 0))

    def entry(self, link: LinkId, seq: int) -> Entry | None:
        """One journal entry, if the store still holds it."""
        return next((e for e in self.journal_after(link, seq - 1, 1) if e.seq == seq), None)

    def meters(self, links: Iterable[LinkId]) -> list[MeterState]:
        """Every meter of these links, each link read at one instant."""
        wanted = list(links)
        with _guarded():
            replies = []
            for link in wanted:
                keys = LinkKeys.of(link)
                pipe = self._client.pipeline(transaction=True)
                pipe.hmget(keys.link, "seq", "at", "status", "meters", "released", "suspension", "notices")
                pipe.hgetall(keys.meters)
                replies.append(pipe.execute())
        return [state for link, reply in zip(wanted, replies, strict=True) for state in _states(link, reply)]

    def ping(self) -> None:
        """Raise `StoreUnavailable` unless Redis answers."""
        with _guarded():
            self._client.ping()

    def claim_nudge(self, link: LinkId, seconds: int) -> bool:
        """True for the one caller who should ask for a drain now."""
        with _guarded():
            return bool(self._client.set(LinkKeys.of(link).nudge, "1", nx=True, ex=seconds))

    def clear_nudge(self, link: LinkId) -> None:
        """A drain has begun: what comes after this must ask again."""
        with _guarded():
            self._client.delete(LinkKeys.of(link).nudge)

    def run(self, name: str, link: LinkId, rest: list[str] | None = None, **named: str) -> list[Any]:
        """Run a script on a link; what it says about the link itself is raised."""
        with _guarded():
            reply = cast(
                "list[Any]", self._scripts[name].call(self._scripts_on, LinkKeys.of(link), rest, **named)
            )
        if reply[0] == "link_missing":
            raise LinkMissing(f"Redis does not hold link {link}")
        if reply[0] == "stale":
            raise StaleDefinition(link, reply[1], reply[2])
        if reply[0] == "link_closed":
            raise Refused(Code.LINK_CLOSED, f"link {link} is closed: {reply[1]}")
        return reply


@contextmanager
def _guarded() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise StoreUnavailable(f"{type(error).__name__}: {error}") from error


def _entries(found: Any) -> Iterator[tuple[str, dict[str, str]]]:
    for stream_id, fields in found or []:
        if fields is None:
            raise LedgerMismatch(f"stream entry {stream_id} has no fields")
        yield stream_id, fields


def _round_outcome(outcome: str, record: str) -> RoundOutcome:
    if outcome in ("round_number_passed", "round_number_too_far"):
        return RoundOutcome(outcome, highest=int(record))
    return RoundOutcome(outcome, Record.parse(record) if record else None)


def _states(link: LinkId, reply: list[Any]) -> Iterator[MeterState]:
    (seq, at, link_status, ids, released, suspension, notices), values = reply
    if seq is None:
        raise LinkMissing(f"Redis does not hold link {link}")
    for pot in parse_pots(ids.split(","), values):
        yield MeterState(
            pot=pot,
            link=link,
            status=link_status if link_status == "closed" else values[f"{pot.id}/status"],
            waiting=values.get(f"{pot.id}/waiting", "[]"),
            suspension=suspension or "",
            notices=notices or "{}",
            seq=int(seq),
            at=int(at),
            released=int(released or 0),
        )
