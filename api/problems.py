"""Refusals as RFC 9457 problem documents: one shape, one table of codes and statuses."""

import json
import re
from typing import Any

import msgspec

from controller.betting.messages import Recorded
from controller.errors import Code, FieldProblem, Refused
from controller.jackpots.claims import Claim
from controller.results.messages import RecordedEnd

MEDIA_TYPE = "application/problem+json"


class FieldError(msgspec.Struct, frozen=True, kw_only=True):
    """One field that is wrong."""

    field: str
    code: str
    detail: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a request was refused. `code` is stable; `detail` is for people."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: list[FieldError] = []
    recorded: Recorded | None = None
    ended: RecordedEnd | None = None
    claim: Claim | None = None


MEANINGS: dict[Code, tuple[int, str, str]] = {
    Code.BODY_INVALID: (
        400,
        "The request is not valid",
        "A field is missing, unknown, of the wrong type or out of range.",
    ),
    Code.BODY_TOO_LARGE: (413, "The request is too large", "Send fewer events in one request."),
    Code.CREDENTIALS_MISSING: (
        401,
        "A key is required",
        "Send Authorization: Bearer with the key of this table.",
    ),
    Code.CREDENTIALS_INVALID: (401, "The key is not valid", "The key is unknown or was revoked."),
    Code.NOT_PERMITTED: (403, "Not permitted", "This key may not do that; a table speaks for itself alone."),
    Code.NOT_FOUND: (404, "No such route", "See /docs for every route."),
    Code.METHOD_NOT_ALLOWED: (405, "Method not allowed", "The route exists with another method."),
    Code.TABLE_UNKNOWN: (404, "Unknown table", "The floor in force has no such table."),
    Code.METER_UNKNOWN: (404, "Unknown meter", "The floor in force has no such meter."),
    Code.LINK_UNKNOWN: (404, "Unknown link", "The floor in force has no such link."),
    Code.ROUND_UNKNOWN: (404, "Unknown round", "Nothing is recorded under this number."),
    Code.ALARM_UNKNOWN: (404, "No such open alarm", "It does not exist or was acknowledged before."),
    Code.BOX_UNKNOWN: (422, "Unknown box", "The table's layout has no such box."),
    Code.BOX_REPEATED: (422, "Box repeated", "Each box may appear once in a round."),
    Code.BET_KIND_WRONG: (422, "Wrong kind of bet", "This game's boxes carry other fields."),
    Code.PROGRESSIVE_AMOUNT_WRONG: (
        422,
        "Wrong progressive bet",
        "The progressive bet is a prescribed amount (TCP 3.3, 3.4).",
    ),
    Code.PROGRESSIVE_NOT_OFFERED: (422, "No progressive bet here", "The table is on no link."),
    Code.EXISTS_WITH_DIFFERENT_BODY: (
        409,
        "Recorded with a different body",
        "The round stands as recorded; see `recorded`, or `ended` for how it ended.",
    ),
    Code.ROUND_NUMBER_PASSED: (
        409,
        "Round number passed",
        "A higher round is recorded and this one never was. An alarm is raised.",
    ),
    Code.ROUND_NUMBER_TOO_FAR: (
        409,
        "Round number too far ahead",
        "More than ten billion above the table's last round; POST …/open answers the next number.",
    ),
    Code.METER_LIMIT_REACHED: (409, "Meter limit reached", "The value would no longer fit the ledger."),
    Code.BOX_WITHOUT_BETS: (422, "Box without bets", "The round has no bets on this box."),
    Code.RESULT_INCOMPLETE: (422, "Result incomplete", "Every box with bets needs its result."),
    Code.DECISION_WRONG: (
        422,
        "Wrong decision",
        "A box with an Ante plays or folds; the others have nothing to decide (3.12).",
    ),
    Code.CARDS_WRONG: (422, "Wrong cards", "A card that does not exist, is missing, or has no place here."),
    Code.CARD_REPEATED: (422, "Impossible deal", "One deck cannot deal the same card twice."),
    Code.DEAL_TIME_MISSING: (
        422,
        "Deal time missing",
        "A hand with a progressive bet needs the moment of its third card: it decides the order of payment.",
    ),
    Code.INCIDENT_INCOMPLETE: (
        422,
        "Incident incomplete",
        "The paragraph cannot rule without the fact that is named.",
    ),
    Code.INCIDENT_NOT_FORESEEN: (
        422,
        "Incident not foreseen",
        "The game's document has no paragraph for it: send house_decision.",
    ),
    Code.ROUND_MUST_BE_VOIDED: (
        422,
        "The round is void",
        "The paragraph voids the round: send …/void, not a result.",
    ),
    Code.VOID_NOT_ALLOWED: (422, "The round is not void", "The paragraph lets the round go on."),
    Code.RETURN_NOT_ALLOWED: (422, "The bets do not go back", "The paragraph leaves the hand in play."),
    Code.ROUND_STANDS: (409, "The round stands", "The next round had begun when the void was declared."),
    Code.ROUND_VOIDED: (409, "The round is void", "A void round has no result."),
    Code.ROUND_OPEN: (409, "A round is open", "Close, void or finish the table's rounds first."),
    Code.ROUND_CHANGING: (
        503,
        "Changing",
        "The round or link changed several times meanwhile. Send the same request again.",
    ),
    Code.TABLE_WAS_OFFLINE: (
        409,
        "The table was offline",
        "Its bets were closed during an outage and cannot count any more (5.17.2c).",
    ),
    Code.TABLE_SUSPENDED: (409, "Table closed", "The House has closed the table (5.17.2a)."),
    Code.BOX_SUSPENDED: (409, "Box disallowed", "The House takes no bets on a box of this round (5.17.2b)."),
    Code.PROGRESSIVE_SUSPENDED: (
        409,
        "No progressive bets",
        "The table or link takes no progressive bets now (5.17.2c); send the round without them.",
    ),
    Code.NOT_ELIGIBLE: (422, "Not eligible", "The hand has no bet that a progressive pays."),
    Code.HAND_PAYS_NOTHING: (422, "No paying hand", "The pay table has no line for this hand."),
    Code.CLAIM_UNKNOWN: (404, "Unknown claim", "No such claim, or nothing about it can change any more."),
    Code.CLAIM_STATE_WRONG: (409, "Not in this state", "The claim is not where this decision applies."),
    Code.ORDER_WRONG: (422, "Not an order", "Name every claim that waits on one meter, once."),
    Code.TABLE_HOLDS_NOTHING: (409, "Nothing is held", "The table holds no claim back."),
    Code.HOLD_LIMIT_NOT_REACHED: (409, "Too early", "A silent table may hold claims for the hold limit."),
    Code.SECOND_PERSON_NEEDED: (422, "Second person needed", "Two different people must say so."),
    Code.NOTICE_NEEDED: (422, "Notice needed", "The regulator's notice comes before this payment."),
    Code.AWARD_MADE: (
        409,
        "An award was made",
        "Taking it back needs the House: send authorised_by.",
    ),
    Code.AWARD_PAID: (409, "An award was paid", "What was paid or settled later stands."),
    Code.NOTHING_TO_UNDO: (409, "Nothing to undo", "The meter has no settlement that can be undone."),
    Code.NOT_ATTEMPTED: (
        424,
        "Not attempted",
        "An earlier event of the same request was refused. Send it again.",
    ),
    Code.LINK_CLOSED: (503, "Link closed", "The link failed closed and takes no bets until it is healed."),
    Code.FLOOR_CHANGING: (
        503,
        "Floor changing",
        "A new floor is being put in force. Send the same request again.",
    ),
    Code.STORE_UNAVAILABLE: (
        503,
        "Meters unavailable",
        "Redis does not answer. Send the same request again.",
    ),
    Code.LEDGER_UNAVAILABLE: (503, "Ledger unavailable", "SQL does not answer. Send the same request again."),
    Code.INTERNAL_ERROR: (
        500,
        "Internal error",
        "Send the same request again: what was recorded is answered as recorded.",
    ),
}
"""Every code: its status, its title, and what it means to a caller."""


def problem_of(refused: Refused) -> Problem:
    """The document that tells a caller about a refusal."""
    status, title, _ = MEANINGS[refused.code]
    return Problem(
        type=f"/docs#{refused.code}",
        title=title,
        status=status,
        code=refused.code,
        detail=refused.detail,
        errors=[FieldError(field=p.field, code=p.code, detail=p.detail) for p in refused.problems],
        recorded=refused.recorded if isinstance(refused.recorded, Recorded) else None,
        ended=refused.recorded if isinstance(refused.recorded, RecordedEnd) else None,
        claim=refused.recorded if isinstance(refused.recorded, Claim) else None,
    )


def invalid(field: str, detail: str) -> Refused:
    """A refusal of one field of a request."""
    return Refused(Code.BODY_INVALID, f"{field}: {detail}", [FieldProblem(field, Code.BODY_INVALID, detail)])


def decode_body(body: bytes, decoder: "msgspec.json.Decoder[Any]") -> object:
    """A request body as a typed value, or a refusal that names the field."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _located(str(error)) from error
    except msgspec.DecodeError as error:
        raise _malformed(body, decoder.type, str(error)) from error
    except UnicodeDecodeError as error:
        raise invalid("body", "expected UTF-8") from error


def _located(message: str) -> Refused:
    expected, _, path = message.partition(" - at `")
    field = path.rstrip("`").removeprefix("$").removeprefix(".") or "body"
    named = re.search(r"(?:unknown|missing required) field `([^`]*)`", expected)
    if named:
        field = named[1] if field == "body" else f"{field}.{named[1]}"
    return invalid(field, expected[0].lower() + expected[1:])


def _malformed(body: bytes, kind: type, message: str) -> Refused:
    """NaN and Infinity are not JSON, but many encoders write them: name the field all the same."""
    try:
        lenient = json.loads(body, parse_constant=lambda name: {name: name})
        msgspec.convert(lenient, type=kind)
    except msgspec.ValidationError as error:
        return _located(str(error))
    except (ValueError, RecursionError):
        pass
    return invalid("body", message[0].lower() + message[1:])
