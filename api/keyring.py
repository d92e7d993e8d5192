"""Who is calling: keys by digest, kept in memory, read again when a key is unknown or time has passed."""

import logging
import threading
from collections.abc import Callable

from controller.errors import Code, LedgerUnavailable, Refused
from models.keys import Caller, Role, key_digest

log = logging.getLogger(__name__)

REFRESH_SECONDS = 5.0
UNKNOWN_SECONDS = 0.5
"""Unknown keys may make us read at most this often: a guesser must not become a load on SQL."""


class Keyring:
    """The valid keys, as this process knows them."""

    def __init__(self, source: Callable[[], dict[str, Caller]], now: Callable[[], float]) -> None:
        self._source = source
        self._now = now
        self._lock = threading.Lock()
        self._callers: dict[str, Caller] = {}
        self._read_at = float("-inf")

    def caller(self, authorization: str) -> Caller:
        """The caller behind an Authorization header, or a refusal."""
        scheme, _, secret = authorization.partition(" ")
        if scheme.lower() != "bearer" or not secret:
            raise Refused(Code.CREDENTIALS_MISSING, "Authorization: expected Bearer and a key")
        digest = key_digest(secret.strip())
        age = self._now() - self._read_at
        if not self._callers:
            self._read()
        elif age > REFRESH_SECONDS:
            # In the background: a database that hangs must not hold a table's bets.
            self._read_at = self._now()
            threading.Thread(target=self._read, name="keys", daemon=True).start()
        # A dictionary of digests leaks no timing about keys: an attacker cannot choose a digest.
        caller = self._callers.get(digest)
        if caller is None and age > UNKNOWN_SECONDS:
            self._read()
            caller = self._callers.get(digest)
        if caller is None:
            raise Refused(Code.CREDENTIALS_INVALID, "Authorization: the key is unknown or revoked")
        return caller

    def _read(self) -> None:
        with self._lock:
            try:
                self._callers = self._source()
                self._read_at = self._now()
            except LedgerUnavailable:
                # Bets go on while SQL is down, by the keys that were valid when it was last seen.
                if not self._callers:
                    raise
                log.warning("keys not refreshed, SQL does not answer")


def require_table(caller: Caller, table: str) -> None:
    """A table speaks for itself alone; an operator may stand in for any."""
    if caller.role is not Role.OPERATOR and caller.subject != table:
        raise Refused(Code.NOT_PERMITTED, f"table: this key speaks for {caller.subject}, not for {table}")


def require_operator(caller: Caller) -> None:
    """Only an operator."""
    if caller.role is not Role.OPERATOR:
        raise Refused(Code.NOT_PERMITTED, "this key may not do that")
