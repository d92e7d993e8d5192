"""Putting a floor in force: SQL keeps the version, Redis the definition, the journal both."""

from typing import Protocol

import msgspec

from controller.errors import StartRefused
from controller.floor.definition import Floor
from controller.ids import LinkId
from controller.journal.entry import GENESIS_HEAD
from controller.store.link_store import LinkHead, LinkStore

FIRST_EPOCH = 1


class LedgerPosition(Protocol):
    """How far the ledger has come with a link."""

    @property
    def seq(self) -> int:
        """Its last sequence number."""

    @property
    def head(self) -> str:
        """The head after it."""


def check_agreement(store: LinkStore, link: LinkId, position: LedgerPosition) -> LinkHead | None:
    """Refuse to go on where Redis and the ledger tell different histories.

    Redis may be ahead: workers will drain it. Redis empty or behind a ledger that has entries means
    that acknowledged money is missing from the meters, and no default value may stand in for it.
    """
    head = store.head(link)
    if head is None:
        if position.seq == 0:
            return None
        raise StartRefused(
            f"link {link}: the ledger has {position.seq} journal entries but Redis holds none. "
            "Redis has lost its data: restore its append-only file before starting"
        )
    if head.seq < position.seq:
        raise StartRefused(
            f"link {link}: Redis is at entry {head.seq}, the ledger at {position.seq}. "
            "Redis has lost acknowledged entries: restore its append-only file before starting"
        )
    if head.seq == position.seq and head.head != position.head:
        raise StartRefused(f"link {link}: Redis and the ledger disagree about entry {head.seq}")
    first = next(iter(store.journal_after(link, position.seq, 1)), None)
    if first is not None and first.head != first.expected_head(position.head or GENESIS_HEAD):
        raise StartRefused(
            f"link {link}: Redis' entry {first.seq} does not follow the ledger's {position.seq}"
        )
    return head


def put_in_force(
    store: LinkStore, floor: Floor, version: int, software: str, heads: dict[LinkId, LinkHead | None]
) -> list[LinkId]:
    """Give every link its definition; the links whose definition changed."""
    facts = msgspec.json.encode({"floor_version": version, "software": software}).decode()
    changed = []
    for link in floor.link_ids:
        head = heads.get(link)
        epoch = head.epoch if head else FIRST_EPOCH
        expected = head.definition if head else ""
        if store.configure(floor, link, epoch, expected, facts) is not None:
            changed.append(link)
    return changed
