"""The sign of a link in a real browser: exact money, and honesty about contact."""

import copy
import re
import time
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from controller.floor.definition import Link, Meter
from controller.floor.file import parse_floor
from controller.money import decimal_text, displayed, share, to_micro
from controller.settings import Settings
from deploy.prepare import floor_text
from tests.support.product import Product

METERS = "**/v1/meters?link=*"
SOON = 10_000
OUTAGE = 20_000
RESTART = 60_000
NO_CONTACT = re.compile(r"^No contact with the controller since \d\d:\d\d:\d\d$")

Answer = dict[str, Any]


def _link(name: str) -> Link:
    return parse_floor(floor_text(Settings())[0]).links_by_id[name]


def _after(link: Link, meter: Meter, bets: int) -> str:
    """What the sign must show after so many bets from the opening value on."""
    value = to_micro(meter.opening_cents) + bets * share(link.progressive_bet_cents, meter.rate_ppm)
    return f"${decimal_text(displayed(value))}"


def _value(page: Page, meter: str) -> Locator:
    return page.locator(f"[data-meter={meter}] .value")


def _banner(page: Page) -> Locator:
    return page.get_by_role("alert")


def _state(page: Page, state: str, timeout: float = SOON) -> None:
    expect(page.locator("body")).to_have_attribute("data-state", state, timeout=timeout)


class Controller:
    """Stands in for the API's meters: answers what a test says, as often as the sign asks."""

    def __init__(self, page: Page, answer: Answer) -> None:
        self.answer = copy.deepcopy(answer)
        self.asked = 0
        page.route(METERS, self._reply)

    @property
    def meter(self) -> Answer:
        """The one meter of the answer."""
        meter: Answer = self.answer["meters"][0]
        return meter

    def _reply(self, route: Route) -> None:
        self.asked += 1
        route.fulfill(json=self.answer)

    def wait_for_questions(self, page: Page, count: int) -> None:
        """Until the sign has asked so many times more."""
        wanted = self.asked + count
        deadline = time.monotonic() + 30
        while self.asked < wanted:
            assert time.monotonic() < deadline, "the sign does not ask"
            page.wait_for_timeout(100)


@pytest.fixture
def answer(product: Product) -> Answer:
    """What the API says of a link with one meter."""
    answer: Answer = product.get("/v1/meters?link=three-card")
    return answer


def test_rises_by_exactly_the_share(product: Product, page: Page) -> None:
    link = _link("multi-link")
    meter = link.meters[0]
    page.goto("/signage/multi-link")
    expect(page).to_have_title("Multi-Link Jackpot – Sample Casino")
    expect(_value(page, meter.id)).to_have_text("$50,000.00", timeout=SOON)
    bets = 0
    for boxes in (1, 1, 7):  # 17.25% of $5.00 is $0.8625: the fraction is kept and never shown
        product.bet("MLP-01", boxes)
        bets += boxes
        expect(_value(page, meter.id)).to_have_text(_after(link, meter, bets), timeout=SOON)
    expect(_value(page, meter.id)).to_have_text("$50,007.76")
    expect(page.get_by_text(re.compile(r"^Sequence \d+$"))).to_be_visible()
    expect(page.locator("[data-part=contact]")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))


def test_pay_table_reads_as_people_write(page: Page) -> None:
    page.goto("/signage/three-card")
    rows = page.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text("A-K-Q of Spades")
    expect(rows.nth(0)).to_contain_text("100% of Major Jackpot")
    expect(rows.nth(0)).to_contain_text("$250.00")
    expect(rows.nth(3).locator("th, td")).to_have_text(["Three of a Kind", "$150.00", ""])
    expect(page.get_by_text("Progressive bet $5.00")).to_be_visible()


def test_an_unchanged_meter_is_answered_304(page: Page) -> None:
    page.goto("/signage/three-card")
    with page.expect_response(lambda reply: reply.status == 304, timeout=SOON) as caught:
        pass
    assert caught.value.request.headers["if-none-match"].startswith('W/"')
    _state(page, "live")


def test_counts_up_without_overshoot(page: Page, answer: Answer) -> None:
    controller = Controller(page, answer)
    start, target = 2_000_000, 2_345_678
    controller.meter["displayed_cents"] = start
    page.goto("/signage/three-card")
    value = _value(page, "tcp-major")
    expect(value).to_have_text("$20,000.00", timeout=SOON)
    value.evaluate(
        """element => {
            window.seen = [];
            new MutationObserver(() => window.seen.push(element.textContent))
                .observe(element, {childList: true, characterData: true, subtree: true});
        }"""
    )
    controller.meter.update(displayed_cents=target, seq=controller.meter["seq"] + 1)
    expect(value).to_have_text("$23,456.78", timeout=SOON)
    seen = [int(re.sub(r"\D", "", text)) for text in page.evaluate("window.seen")]
    assert seen == sorted(seen)
    assert start <= seen[0]
    assert seen[-1] == target


def test_stands_still_for_those_who_ask_for_less_motion(
    browser: Browser, product: Product, answer: Answer
) -> None:
    context = browser.new_context(base_url=product.base, reduced_motion="reduce")
    page = context.new_page()
    controller = Controller(page, answer)
    controller.meter["displayed_cents"] = 2_000_000
    page.goto("/signage/three-card")
    value = _value(page, "tcp-major")
    expect(value).to_have_text("$20,000.00", timeout=SOON)
    value.evaluate(
        """element => {
            window.seen = 0;
            new MutationObserver(() => { window.seen += 1; })
                .observe(element, {childList: true, characterData: true, subtree: true});
        }"""
    )
    controller.meter.update(displayed_cents=9_000_000, seq=controller.meter["seq"] + 1)
    expect(value).to_have_text("$90,000.00", timeout=SOON)
    assert page.evaluate("window.seen") == 1
    context.close()


def test_an_overtaken_answer_is_ignored(page: Page, answer: Answer) -> None:
    controller = Controller(page, answer)
    controller.meter.update(displayed_cents=2_000_500, seq=50, cycle=3)
    page.goto("/signage/three-card")
    value = _value(page, "tcp-major")
    expect(value).to_have_text("$20,005.00", timeout=SOON)
    controller.meter.update(displayed_cents=2_000_400, seq=49)
    controller.wait_for_questions(page, 2)
    expect(value).to_have_text("$20,005.00")
    controller.meter.update(displayed_cents=9_999_900, seq=48, cycle=2)
    controller.wait_for_questions(page, 2)
    expect(value).to_have_text("$20,005.00")
    controller.meter.update(displayed_cents=2_000_000, seq=51, cycle=4)  # won: back to the reset value
    expect(value).to_have_text("$20,000.00", timeout=SOON)
    controller.meter.update(displayed_cents=2_000_075, seq=7, cycle=5)
    expect(value).to_have_text("$20,000.75", timeout=SOON)


def test_a_restored_controller_is_believed_after_a_time_without_contact(page: Page, answer: Answer) -> None:
    controller = Controller(page, answer)
    controller.meter.update(displayed_cents=2_000_500, seq=50)
    page.goto("/signage/three-card")
    expect(_value(page, "tcp-major")).to_have_text("$20,005.00", timeout=SOON)
    controller.meter.update(displayed_cents=2_000_400, seq=49)
    _state(page, "stale", OUTAGE)
    expect(_value(page, "tcp-major")).to_have_text("$20,004.00", timeout=SOON)
    _state(page, "live")


def test_says_what_is_not_running(page: Page, answer: Answer) -> None:
    controller = Controller(page, answer)
    controller.meter["status"] = "closed"
    page.goto("/signage/three-card")
    notice = page.locator("[data-meter=tcp-major] .notice")
    expect(notice).to_have_text("Closed – no bets are being taken", timeout=SOON)
    expect(notice).to_be_visible()
    controller.meter["status"] = "running"
    expect(notice).to_be_hidden(timeout=SOON)


def test_only_a_good_answer_counts_as_contact(context: BrowserContext, answer: Answer) -> None:
    def broken(route: Route) -> None:
        route.fulfill(status=503, json={"code": "store_unavailable"})

    def garbled(route: Route) -> None:
        route.fulfill(json={"meters": [{**answer["meters"][0], "displayed_cents": 1.5}]})

    pages = []
    for fault in (broken, garbled):
        page = context.new_page()
        page.goto("/signage/three-card")
        _state(page, "live")
        page.route(METERS, fault)
        pages.append(page)
    for page in pages:
        page.bring_to_front()
        expect(_banner(page)).to_have_text(NO_CONTACT, timeout=OUTAGE)
        page.unroute(METERS)
        _state(page, "live")


def test_a_question_that_hangs_is_given_up(page: Page) -> None:
    hung: list[Route] = []

    def hang_twice(route: Route) -> None:
        if len(hung) < 2:
            hung.append(route)
        else:
            route.continue_()

    page.goto("/signage/three-card")
    _state(page, "live")
    page.route(METERS, hang_twice)
    expect(_banner(page)).to_have_text(NO_CONTACT, timeout=OUTAGE)
    _state(page, "live")
    assert len(hung) == 2


def test_a_newer_floor_is_loaded(page: Page) -> None:
    page.clock.install()
    page.goto("/signage/three-card")
    _state(page, "live")
    page.route(
        "**/signage/three-card",
        lambda route: (
            route.fulfill(headers={"Floor-Version": "2"})
            if route.request.method == "HEAD"
            else route.continue_()
        ),
    )
    with page.expect_navigation(timeout=OUTAGE):
        page.clock.fast_forward(61_000)


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (3840, 2160), (1080, 1920), (1280, 720)])
def test_fills_the_screen_and_no_more(page: Page, answer: Answer, width: int, height: int) -> None:
    controller = Controller(page, answer)
    controller.meter["displayed_cents"] = 8_888_888_888_88
    page.set_viewport_size({"width": width, "height": height})
    page.goto("/signage/three-card")
    value = _value(page, "tcp-major")
    expect(value).to_have_text("$8,888,888,888.88", timeout=SOON)
    box = value.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["width"] > width * 0.4
    scroll = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    assert page.evaluate(scroll) == [width, height]


def test_says_so_when_the_controller_is_gone_and_recovers_alone(product: Product, page: Page) -> None:
    link = _link("three-card-progressive")
    meter = link.meters[0]
    page.goto("/signage/three-card-progressive")
    product.bet("GTP-01", 2, link.progressive_bet_cents)
    shown = _after(link, meter, 2)
    value = _value(page, meter.id)
    expect(value).to_have_text(shown, timeout=SOON)
    expect(_banner(page)).to_be_hidden()

    product.stop()
    expect(_banner(page)).to_have_text(NO_CONTACT, timeout=OUTAGE)
    expect(page.get_by_text("Not live – last known value")).to_be_visible()
    expect(value).to_have_text(shown)
    expect(page.locator("main")).to_have_css("filter", re.compile(r"grayscale\(1\)"))

    product.start()
    _state(page, "live", RESTART)
    expect(_banner(page)).to_be_hidden()
    expect(page.get_by_text("Not live – last known value")).to_be_hidden()
    expect(value).to_have_text(shown)
    product.bet("GTP-01", 6, link.progressive_bet_cents)
    expect(value).to_have_text(_after(link, meter, 8), timeout=SOON)
