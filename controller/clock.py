"""Instants as integers of microseconds since the epoch, and their RFC 3339 text.

Times are compared and hashed, so they are kept exact; `datetime` appears only at the borders.
"""

from datetime import UTC, datetime, timedelta

INSTANT_MAX = 253_370_764_800_000_000
"""The year 9999: beyond it the text form has no room."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_UTC = _EPOCH.replace(tzinfo=None)  # the same, for text that ends in Z
_MICROSECOND = timedelta(microseconds=1)


def to_micros(instant: datetime) -> int:
    """An aware datetime as microseconds since the epoch.

    >>> to_micros(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (instant - _EPOCH) // _MICROSECOND


def to_text(micros: int) -> str:
    """RFC 3339 in UTC, always with microseconds, so that texts sort like instants.

    >>> to_text(1_000_001)
    '1970-01-01T00:00:01.000001Z'
    """
    return (_EPOCH_UTC + micros * _MICROSECOND).isoformat(timespec="microseconds") + "Z"


def from_text(text: str) -> int:
    """The instant of a text that `to_text` wrote.

    >>> from_text("1970-01-01T00:00:01.000001Z")
    1000001
    """
    return to_micros(datetime.fromisoformat(text))
