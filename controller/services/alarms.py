"""Raising alarms: before what they are about is recorded, so that a crash can only leave one too many."""

from collections.abc import Iterable

import msgspec

from controller.ids import LinkId
from controller.jackpots.registering import Alarming
from controller.store.link_store import LinkStore


def raise_alarms(store: LinkStore, link: LinkId, alarms: Iterable[Alarming]) -> None:
    """Raise each unless one of its subject is open."""
    for alarm in alarms:
        facts = msgspec.json.encode({"subject": alarm.subject, "detail": alarm.detail}).decode()
        store.raise_alarm(link, alarm.subject, facts)
