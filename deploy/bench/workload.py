"""What is sent: the bench's floor, and for every contestant one request per connection.

Ten '@' in a request are the next round number of that connection, ten '#' the same number again; the load
generators fill them in (load.h).
"""

import json
from dataclasses import dataclass

import msgspec

from controller.betting.locked_bets import lock_bets
from controller.betting.messages import RoundBets
from controller.floor.definition import Floor
from controller.floor.file import parse_floor
from controller.ids import LinkId
from controller.store.keys import LinkKeys
from controller.store.scripts import load_scripts

TABLES = 64
BOXES = 7
BETS = 5
BET_CENTS = 500
OPENING_CENTS = 2_000_000
RATES_PPM = {"bench-one": 150_000, "bench-two": 172_500}
EVENTS = 50
CONNECTIONS = 32

FIRST_NUMBER = 1_000_000_000
NEXT, SAME = "@" * 10, "#" * 10
CLOSED_AT = "2030-01-01T20:15:00.000000Z"


@dataclass(frozen=True, slots=True)
class Line:
    """One connection's request, and the link that its rounds go to."""

    link: str
    request: bytes


def floor_text() -> str:
    """Two links, 64 tables of 7 boxes, alternating between them."""
    links = list(RATES_PPM)
    pay_tables = [
        {
            "id": f"{link}-pays",
            "game": "TCP",
            "title": "Bench",
            "lines": [
                {"hand": "akq_spades", "meter": f"{link}-major", "share_ppm": 1_000_000, "rule": "none"}
            ],
        }
        for link in links
    ]
    meter = {"title": "Major", "reset_cents": OPENING_CENTS, "opening_cents": OPENING_CENTS}
    floor = {
        "version": 1,
        "casino": "Bench",
        "pay_tables": pay_tables,
        "links": [
            {
                "id": link,
                "title": link,
                "currency": "SGD",
                "pay_tables": [f"{link}-pays"],
                "progressive_bet_cents": BET_CENTS,
                "meters": [{"id": f"{link}-major", "rate_ppm": rate, "reserve_ppm": 30_000, **meter}],
            }
            for link, rate in RATES_PPM.items()
        ],
        "tables": [
            {"id": table_name(i), "game": "TCP", "link": link_of(i), "boxes": BOXES} for i in range(TABLES)
        ],
    }
    return json.dumps(floor, indent=1)  # YAML, as every JSON text is


def table_name(index: int) -> str:
    """The name of a table."""
    return f"B-{index + 1:02d}"


def link_of(index: int) -> str:
    """The link of a table."""
    return list(RATES_PPM)[index % len(RATES_PPM)]


def round_bets() -> dict[str, object]:
    """A round's body: five of seven boxes bet."""
    boxes = [
        {
            "box": box,
            "player": f"P-{box:06d}",
            "ante_cents": 2_500,
            "pair_plus_cents": 1_000,
            "progressive_cents": BET_CENTS,
        }
        for box in range(1, BETS + 1)
    ]
    return {"bets_closed_at": CLOSED_AT, "boxes": boxes}


def noop_lines() -> list[Line]:
    """The body of a round, sent to the handler that does nothing."""
    return [Line("", _post("/noop", round_bets()))] * CONNECTIONS


def meters_lines() -> list[Line]:
    """A sign that reads all meters."""
    return [Line("", b"GET /v1/meters HTTP/1.1\r\nHost: bench\r\n\r\n")] * CONNECTIONS


def bets_lines(keys: dict[str, str], count: int) -> list[Line]:
    """One table per connection; a round per request. An empty key leaves the header out."""
    return [
        Line(
            link_of(i),
            _post(
                f"/v1/tables/{table_name(i)}/rounds/{NEXT}/bets", round_bets(), keys.get(table_name(i), "")
            ),
        )
        for i in range(count)
    ]


def events_lines(keys: dict[str, str]) -> list[Line]:
    """One table per connection, other tables than those of single rounds; many rounds per request."""
    event = json.dumps({"type": "bets", "round": 0, **round_bets()}, separators=(",", ":"))
    events = ",".join([event.replace('"round":0', f'"round":{NEXT}')] * EVENTS)
    return [
        Line(
            link_of(i),
            _post(f"/v1/tables/{table_name(i)}/events", f'{{"events":[{events}]}}', keys[table_name(i)]),
        )
        for i in range(TABLES - CONNECTIONS, TABLES)
    ]


def script_lines(epochs: dict[str, int], rounds: int) -> list[Line]:
    """The script call that the API would make for `rounds` rounds of one table."""
    floor = parse_floor(floor_text())
    return [Line(link_of(i), _script_call(floor, i, epochs[link_of(i)], rounds)) for i in range(CONNECTIONS)]


def _script_call(floor: Floor, index: int, epoch: int, rounds: int) -> bytes:
    script = load_scripts()["contribute"]
    link = LinkId(link_of(index))
    table = floor.tables_by_id[table_name(index)]
    body = msgspec.convert(round_bets(), type=RoundBets)
    locked = lock_bets(floor, table, FIRST_NUMBER, body)
    facts = locked.facts_text.replace(str(FIRST_NUMBER), SAME)
    policy = floor.policy_of(link)
    bets = str(len(locked.facts.progressive_boxes))
    boxes = ",".join(str(box.box) for box in locked.facts.boxes)
    one = ["0", locked.table, NEXT, locked.body_hash, bets, str(locked.closed_at), boxes, facts]
    named = {"epoch": str(epoch), "definition": floor.digest(link), "count": str(rounds)}
    named |= {"grace": str(policy.grace), "unmeasured": str(policy.unmeasured_clock)}
    arguments = script.arguments(LinkKeys.of(link), one * rounds, named)
    return _resp("EVALSHA", script.sha, str(len(script.keys)), *arguments)


def _resp(*words: str) -> bytes:
    parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
    return f"*{len(words)}\r\n{''.join(parts)}".encode()


def _post(path: str, body: object, key: str = "") -> bytes:
    text = body if isinstance(body, str) else json.dumps(body, separators=(",", ":"))
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: bench",
        "Content-Type: application/json",
        f"Content-Length: {len(text)}",
        *([f"Authorization: Bearer {key}"] if key else []),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n" + text).encode()
