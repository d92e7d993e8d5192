"""What casinos decide differently about wins: a link's policy, in the floor file."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from controller.money import AMOUNT_MAX_CENTS

Seconds = Annotated[int, Meta(ge=0, le=30 * 86_400)]
Cents = Annotated[int, Meta(ge=0, le=AMOUNT_MAX_CENTS)]


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """How a link's wins are handled. Every default is the careful one."""

    verification: Literal["required", "not_required"] = "required"
    """Whether a supervisor confirms a major before it is awarded."""
    cross_table_order: Literal["automatic", "confirmed"] = "automatic"
    """`confirmed`: the House confirms every order between tables, also where the clocks leave no doubt."""
    same_round: Literal["sequential", "share"] = "sequential"
    """`share`: equal hands of one table and round share one award in equal parts."""
    floor: Literal["none", "reset"] = "none"
    """`reset`: a meter that a partial award leaves below its reset value is topped up to it."""
    grace_seconds: Seconds = 30
    """Bets count as usual up to this long after they were closed."""
    hold_limit_seconds: Seconds = 120
    """How long a silent table holds a claim before the House may proceed without it."""
    unmeasured_clock_seconds: Annotated[int, Meta(ge=0, le=3600)] = 10
    """The uncertainty of a table's clock that was never compared with ours."""
    hand_pay_from_cents: Cents = 120_000
    """Smaller fixed awards are paid by the dealer with the round; these and larger by a named person."""
    two_people_from_cents: Cents = 1_000_000
    """Payouts from this amount need two people."""
    notice_from_cents: Cents | None = None
    """Payouts from this amount need the regulator's notice first."""
    unpaid_alarm_seconds: Seconds = 3600
    """An award that is not paid by then raises an alarm."""

    @property
    def grace(self) -> int:
        """In microseconds."""
        return self.grace_seconds * 1_000_000

    @property
    def unmeasured_clock(self) -> int:
        """In microseconds."""
        return self.unmeasured_clock_seconds * 1_000_000

    @property
    def hold_limit(self) -> int:
        """In microseconds."""
        return self.hold_limit_seconds * 1_000_000


DEFAULT_POLICY = Policy()
