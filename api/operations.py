"""What operators and machines ask about the service itself."""

from typing import Annotated

import msgspec
from msgspec import Meta

from api.routing import Access, Call, Reply, Routes
from controller.clock import to_text
from controller.errors import Code, JackpotError, Refused
from controller.ids import LinkId
from models.archive import alarms, open_alarm_counts, open_alarm_subject

routes = Routes("operations")

_PRINTABLE = r"^[^\x00-\x1f\x7f]*$"
"""No control characters: what people write is journaled, and PostgreSQL cannot hold a NUL."""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """The process answers."""

    status: str


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether this node can take bets, part by part."""

    ready: bool
    parts: dict[str, str]


class AlarmAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An alarm; open until `acknowledged_at` is set."""

    link: str
    seq: int
    subject: str
    detail: str
    raised_at: str
    acknowledged_at: str | None
    acknowledged_by: str | None


class AlarmsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Alarms, newest first."""

    alarms: list[AlarmAnswer]


class Acknowledgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who has seen an alarm."""

    by: Annotated[str, Meta(min_length=1, max_length=80, pattern=_PRINTABLE)]
    note: Annotated[str, Meta(max_length=500, pattern=_PRINTABLE)] = ""


class Acknowledged(msgspec.Struct, frozen=True, kw_only=True):
    """The journal entry that says so."""

    link: str
    alarm: int
    seq: int


@routes.add("GET", "/healthz", access=Access.PUBLIC, answers={200: Health})
def healthz(_call: Call) -> Reply:
    """The process is alive."""
    return Reply(200, Health(status="alive"))


@routes.add("GET", "/readyz", access=Access.PUBLIC, answers={200: Readiness, 503: Readiness})
def readyz(call: Call) -> Reply:
    """Whether Redis, SQL and the floor are there."""
    checks = {
        "redis": call.parts.store.ping,
        "ledger": lambda: open_alarm_counts(call.parts.ledger),
        "floor": call.parts.floor.known,
    }
    parts: dict[str, str] = {}
    for name, check in checks.items():
        try:
            check()
            parts[name] = "ok"
        except JackpotError as error:
            parts[name] = type(error).__name__
    ready = set(parts.values()) == {"ok"}
    return Reply(200 if ready else 503, Readiness(ready=ready, parts=parts))


@routes.add(
    "GET",
    "/v1/alarms",
    access=Access.OPERATOR,
    answers={200: AlarmsAnswer},
    query={"state": "`open` (the default) or `all`."},
    refusals=(Code.BODY_INVALID, Code.LEDGER_UNAVAILABLE),
)
def get_alarms(call: Call) -> Reply:
    """Alarms that wait for a person, newest first."""
    state = call.query.get("state", "open")
    if state not in ("open", "all"):
        raise Refused(Code.BODY_INVALID, f"state: expected open or all, got {state!r}")
    found = alarms(call.parts.ledger, open_only=state == "open")
    return Reply(
        200,
        AlarmsAnswer(
            alarms=[
                AlarmAnswer(
                    link=alarm.link,
                    seq=alarm.seq,
                    subject=alarm.subject,
                    detail=alarm.detail,
                    raised_at=to_text(alarm.raised_at),
                    acknowledged_at=to_text(alarm.acknowledged_at) if alarm.acknowledged_at else None,
                    acknowledged_by=alarm.acknowledged_by,
                )
                for alarm in found
            ]
        ),
    )


@routes.add(
    "POST",
    "/v1/links/{link}/alarms/{seq}/acknowledge",
    access=Access.OPERATOR,
    body=Acknowledgement,
    answers={200: Acknowledged},
    refusals=(Code.ALARM_UNKNOWN, Code.STORE_UNAVAILABLE, Code.LEDGER_UNAVAILABLE),
)
def acknowledge_alarm(call: Call) -> Reply:
    """Say that a person has seen an alarm. A later occurrence raises a new one."""
    link, seq = call.path["link"], call.path["seq"]
    subject = open_alarm_subject(call.parts.ledger, link, seq)
    recorded = None
    if subject is not None:
        facts = {"subject": subject, "alarm": seq, "by": call.body.by, "note": call.body.note}
        text = msgspec.json.encode(facts).decode()
        recorded = call.parts.store.acknowledge_alarm(LinkId(link), subject, seq, text)
    if recorded is None:
        raise Refused(Code.ALARM_UNKNOWN, f"seq: link {link} has no open alarm {seq}")
    call.parts.nudges(LinkId(link))
    return Reply(200, Acknowledged(link=link, alarm=seq, seq=recorded))
