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
    if first is None and head.seq > position.seq:
        raise StartRefused(
            f"link {link}: Redis is at entry {head.seq} and has let go of entries that the ledger, at "
            f"{position.seq}, does not have. The ledger has lost them: restore its database before starting"
        )
    if first is not None and first.head != first.expected_head(position.head or GENESIS_HEAD):
        raise StartRefused(
            f"link {link}: Redis' entry {first.seq} does not follow the ledger's {position.seq}"
        )
    return head


def require_continuity(before: Floor, after: Floor) -> None:
    """Refuse a floor that drops a link or moves a table: both would leave money or dedupe behind."""
    dropped = sorted(set(before.links_by_id) - set(after.links_by_id))
    if dropped:
        raise StartRefused(f"link {dropped[0]} holds money and cannot be left out of a floor file")
    for table in after.tables:
        known = before.tables_by_id.get(table.id)
        if known is not None and known.link != table.link:
            raise StartRefused(
                f"table {table.id} is on link {known.link or 'none'} and cannot be moved by a floor file: "
                "its rounds are known to that link alone; give the table a new name"
            )


def put_in_force(
    store: LinkStore,
    floor: Floor,
    version: int,
    software: str,
    heads: dict[LinkId, LinkHead | None],
    *,
    dry_run: bool = False,
) -> list[LinkId]:
    """Give every link its definition; the links whose definition changed.

    A dry run asks every link and changes none, so that a floor is refused whole or not at all.
    """
    facts = msgspec.json.encode({"floor_version": version, "software": software}).decode()
    changed = []
    for link in floor.link_ids:
        head = heads.get(link)
        epoch = head.epoch if head else FIRST_EPOCH
        expected = head.definition if head else ""
        if store.configure(floor, link, epoch, expected, facts, dry_run=dry_run):
            changed.append(link)
    return changed
