"""Settling full tables on one core: how many rounds a second the rules alone can end."""

import random
import statistics
import time
from collections.abc import Callable

import msgspec

from controller.betting.locked_bets import lock_bets
from controller.betting.messages import Facts, RoundBets
from controller.floor.definition import Floor, Table
from controller.floor.file import parse_floor
from controller.games.cards import DECK
from controller.games.vocabulary import GAME_TITLES, Game
from controller.results.conclude import conclude
from controller.results.messages import RoundResult
from controller.settings import Settings
from deploy.prepare import floor_text

BOXES = 7
ROUNDS = 2_000
REPEATS = 5
_DEALT = "2026-01-02T03:04:20Z"
_DECODE = msgspec.json.Decoder(RoundResult).decode


def table() -> str:
    """A Markdown table: rounds per second and core, rules alone and with reading and writing JSON."""
    floor = parse_floor(*floor_text(Settings()))
    chance = random.Random(1)
    rows = [
        "| full table of 7 boxes | settled per second and core | µs each | with JSON in and out | µs each |",
        "|---|---|---|---|---|",
    ]
    for game in Game:
        own = next(t for t in floor.tables if t.game is game)
        own = msgspec.structs.replace(own, boxes=BOXES)
        bets, bodies = _round_bets(floor, own), [_result(game, chance) for _ in range(ROUNDS)]
        parsed = [_DECODE(body) for body in bodies]
        alone = _rate(lambda: [conclude(floor, own, bets, result) for result in parsed])  # noqa: B023
        whole = _rate(
            lambda: [msgspec.json.encode(conclude(floor, own, bets, _DECODE(body))) for body in bodies]  # noqa: B023
        )
        rows.append(
            f"| {GAME_TITLES[game]} | {alone:,.0f} | {1e6 / alone:.0f} | {whole:,.0f} | {1e6 / whole:.0f} |"
        )
    return "\n".join(rows)


def _rate(settle: Callable[[], object]) -> float:
    rates = []
    for _ in range(REPEATS):
        started = time.process_time()
        settle()
        rates.append(ROUNDS / (time.process_time() - started))
    return statistics.median(rates)


def _round_bets(floor: Floor, table: Table) -> Facts:
    if table.game is Game.NTP:
        bet = {"player": "p", "seated": True, "initial_cents": 1000, "tie_cents": 200}
        boxes = [{"box": n, "bets": [{**bet, "three_pictures_cents": 100}]} for n in range(1, BOXES + 1)]
    else:
        amount = floor.links_by_id[table.link or ""].progressive_bet_cents
        bets = {"ante_cents": 1000, "pair_plus_cents": 500, "progressive_cents": amount}
        boxes = [{"box": n, **bets} for n in range(1, BOXES + 1)]
    body = msgspec.convert({"bets_closed_at": "2026-01-02T03:04:05Z", "boxes": boxes}, RoundBets)
    return lock_bets(floor, table, 1, body).facts


def _result(game: Game, chance: random.Random) -> bytes:
    cards = iter([str(card) for card in chance.sample(DECK, 3 * BOXES + 5)])
    body: dict[str, object] = {"dealer": [next(cards) for _ in range(3)]}
    if game is Game.MLP:
        body["community"] = [next(cards), next(cards)]
    boxes = []
    for number in range(1, BOXES + 1):
        box: dict[str, object] = {"box": number, "cards": [next(cards) for _ in range(3)], "dealt_at": _DEALT}
        if game is not Game.NTP:
            box["decision"] = chance.choice(["play", "play", "fold"])
        boxes.append(box)
    return msgspec.json.encode({**body, "boxes": boxes})
