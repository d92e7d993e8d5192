"""The start page, the contract and the page of an unknown link, in a real browser."""

import json
import re

import msgspec
import pytest
from playwright.sync_api import Page, expect

from api.app import ROUTES
from api.openapi import refusals_of
from controller.errors import Code
from tests.support.product import Product


@pytest.mark.parametrize("path", ["/", "/docs", "/signage/three-card", "/signage/multi-link"])
def test_asks_nobody_else_and_complains_of_nothing(product: Product, page: Page, path: str) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path)
    page.wait_for_timeout(2500)  # a sign has asked for its meters by then
    assert len(asked) > 1
    assert [url for url in asked if not url.startswith(f"{product.base}/")] == []
    assert complaints == []


def test_start_page_leads_everywhere(product: Product, page: Page) -> None:
    page.goto("/")
    links = page.get_by_role("link")
    paths = [link.get_attribute("href") or "" for link in links.all()]
    assert {"/signage/three-card", "/docs", "/openapi.json", "/v1/meters", "/metrics", "/healthz"} <= set(
        paths
    )
    for path in paths:
        assert page.request.get(path).status == 200, path


def test_an_unknown_link_is_a_404_that_names_the_known_ones(page: Page) -> None:
    reply = page.goto("/signage/no-such-link")
    assert reply is not None
    assert reply.status == 404
    expect(page.get_by_role("heading", level=1)).to_contain_text("no-such-link")
    page.get_by_role("link", name="Multi-Link Jackpot").click()
    expect(page.locator("[data-meter=mlp-major] .value")).to_have_text(re.compile(r"^\$[\d,]+\.\d\d$"))


def test_docs_list_every_route_and_what_it_refuses(page: Page) -> None:
    page.goto("/docs")
    articles = page.locator("article.route")
    assert articles.locator("h2").all_inner_texts() == [f"{route.method} {route.path}" for route in ROUTES]
    for article, route in zip(articles.all(), ROUTES, strict=True):
        refusals = article.locator(".refusals code").all_inner_texts()
        assert refusals == [str(code) for code in refusals_of(route)]
        assert article.locator("pre").inner_text().startswith("curl ")


def test_docs_name_every_field_of_a_request(page: Page) -> None:
    page.goto("/docs")
    for route in ROUTES:
        if route.body is None:
            continue
        article = page.locator(f"#{route.handler.__name__}-route")
        shown = article.locator("tbody th code").all_inner_texts()
        assert {field.encode_name for field in msgspec.structs.fields(route.body)} <= set(shown)


def test_docs_explain_every_code_under_its_own_address(page: Page) -> None:
    page.goto("/docs")
    assert page.locator("#codes dt code").all_inner_texts() == [str(code) for code in Code]
    problem = page.request.get("/v1/meters?link=no-such-link").json()
    page.goto(problem["type"])
    assert page.url.endswith("/docs#link_unknown")
    expect(page.locator("#link_unknown")).to_be_in_viewport()
    expect(page.locator("#link_unknown")).to_contain_text(problem["title"])


def test_docs_have_no_dead_end(page: Page) -> None:
    page.goto("/docs")
    dead = page.locator("a[href^='#']").evaluate_all(
        "links => links.map(a => a.hash.slice(1)).filter(id => !document.getElementById(id))"
    )
    assert dead == []
    ids = page.locator("[id]").evaluate_all("elements => elements.map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_docs_examples_are_valid(product: Product, page: Page) -> None:
    page.goto("/docs")
    for route in ROUTES:
        example = page.locator(f"#{route.handler.__name__}-route pre").inner_text()
        assert "{" not in example.split("\n")[0]
        assert f"'{product.base}/" in example
        if route.body is not None:
            body = re.search(r"-d '(.*)'", example)
            assert body is not None
            msgspec.json.decode(body[1], type=route.body)
        if route.handler.__name__ in ("post_bets", "post_result", "post_void") and body is not None:
            address = re.search(r"'http://[^/]+([^']+)'", example)
            assert address is not None
            recorded = product.post(address[1], "TCP-01", json.loads(body[1]))
            assert recorded["round"] == 1


def test_docs_fit_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto("/docs")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
