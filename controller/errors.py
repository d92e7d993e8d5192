"""Everything that can go wrong, as one tree. What callers may see has a stable code."""

from dataclasses import dataclass, field
from enum import StrEnum


class Code(StrEnum):
    """Stable names of refusals: table vendors program against these; they are never renamed."""

    BODY_INVALID = "body_invalid"
    BODY_TOO_LARGE = "body_too_large"
    CREDENTIALS_MISSING = "credentials_missing"
    CREDENTIALS_INVALID = "credentials_invalid"
    NOT_PERMITTED = "not_permitted"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    TABLE_UNKNOWN = "table_unknown"
    METER_UNKNOWN = "meter_unknown"
    LINK_UNKNOWN = "link_unknown"
    ROUND_UNKNOWN = "round_unknown"
    ALARM_UNKNOWN = "alarm_unknown"
    BOX_UNKNOWN = "box_unknown"
    BOX_REPEATED = "box_repeated"
    BET_KIND_WRONG = "bet_kind_wrong"
    PROGRESSIVE_AMOUNT_WRONG = "progressive_amount_wrong"
    PROGRESSIVE_NOT_OFFERED = "progressive_not_offered"
    EXISTS_WITH_DIFFERENT_BODY = "exists_with_different_body"
    ROUND_NUMBER_PASSED = "round_number_passed"
    ROUND_NUMBER_TOO_FAR = "round_number_too_far"
    METER_LIMIT_REACHED = "meter_limit_reached"
    BOX_WITHOUT_BETS = "box_without_bets"
    RESULT_INCOMPLETE = "result_incomplete"
    DECISION_WRONG = "decision_wrong"
    CARDS_WRONG = "cards_wrong"
    CARD_REPEATED = "card_repeated"
    DEAL_TIME_MISSING = "deal_time_missing"
    INCIDENT_INCOMPLETE = "incident_incomplete"
    INCIDENT_NOT_FORESEEN = "incident_not_foreseen"
    ROUND_MUST_BE_VOIDED = "round_must_be_voided"
    VOID_NOT_ALLOWED = "void_not_allowed"
    RETURN_NOT_ALLOWED = "return_not_allowed"
    ROUND_STANDS = "round_stands"
    ROUND_VOIDED = "round_voided"
    ROUND_OPEN = "round_open"
    ROUND_CHANGING = "round_changing"
    TABLE_WAS_OFFLINE = "table_was_offline"
    TABLE_SUSPENDED = "table_suspended"
    BOX_SUSPENDED = "box_suspended"
    PROGRESSIVE_SUSPENDED = "progressive_suspended"
    NOT_ELIGIBLE = "not_eligible"
    HAND_PAYS_NOTHING = "hand_pays_nothing"
    CLAIM_UNKNOWN = "claim_unknown"
    CLAIM_STATE_WRONG = "claim_state_wrong"
    ORDER_WRONG = "order_wrong"
    TABLE_HOLDS_NOTHING = "table_holds_nothing"
    HOLD_LIMIT_NOT_REACHED = "hold_limit_not_reached"
    SECOND_PERSON_NEEDED = "second_person_needed"
    NOTICE_NEEDED = "notice_needed"
    AWARD_MADE = "award_made"
    AWARD_PAID = "award_paid"
    NOTHING_TO_UNDO = "nothing_to_undo"
    NOT_ATTEMPTED = "not_attempted"
    LINK_CLOSED = "link_closed"
    FLOOR_CHANGING = "floor_changing"
    STORE_UNAVAILABLE = "store_unavailable"
    LEDGER_UNAVAILABLE = "ledger_unavailable"
    INTERNAL_ERROR = "internal_error"


class JackpotError(Exception):
    """The root of the tree."""


@dataclass(frozen=True)
class FieldProblem:
    """One thing wrong with a request, by the path of the field."""

    field: str
    code: Code
    detail: str


@dataclass
class Refused(JackpotError):
    """A command that was understood and refused; nothing was changed."""

    code: Code
    detail: str
    problems: list[FieldProblem] = field(default_factory=list)
    recorded: object | None = None
    """What stands instead, when the refusal is about something recorded earlier."""

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"


class StoreUnavailable(JackpotError):
    """Redis cannot be reached, or is not the durable server that the product needs."""


class LedgerUnavailable(JackpotError):
    """SQL cannot be reached."""


class LedgerMismatch(JackpotError):
    """Two tellings of the truth differ: a bug or tampering. The link is closed; nobody guesses."""


class ScriptContractError(JackpotError):
    """A Lua script and its caller disagree about keys, arguments or answers."""


class StartRefused(JackpotError):
    """The product cannot start safely; the sentence says what to do."""
