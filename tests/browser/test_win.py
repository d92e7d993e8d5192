"""A win on the sign, with real workers: frozen, announced, and reset once it is settled."""

import re
import time

from playwright.sync_api import Page, expect

from controller.clock import to_text
from tests.support.product import Product

SOON = 10_000


def test_a_win_freezes_the_sign_and_its_settlement_resets_it(product: Product, page: Page) -> None:
    page.goto("/signage/multi-link")
    value = page.locator("[data-meter=mlp-major] .value")
    notice = page.locator("[data-meter=mlp-major] [data-part=notice]")
    product.bet("MLP-01", 4)
    expect(value).to_have_text("$50,003.45", timeout=SOON)
    dealt_at = to_text(time.time_ns() // 1000)
    win = {"box": 2, "dealt_at": dealt_at, "hand": "royal_flush"}
    claim = product.post("/v1/tables/MLP-01/rounds/1/wins", "MLP-01", win)["claim"]
    assert (claim["id"], claim["status"]) == ("MLP-01.1.2", "registered")
    expect(notice).to_contain_text("Jackpot won – pending verification – MLP-01: royal flush", timeout=SOON)
    expect(notice).to_contain_text("Next jackpot $50,000.00")
    product.bet("MLP-02", 4)
    expect(notice).to_contain_text("Next jackpot $50,003.45", timeout=SOON)
    expect(value).to_have_text("$50,003.45")
    product.post("/v1/claims/MLP-01.1.2/verify", "operator", {"by": "Supervisor"})
    product.post("/v1/tables/MLP-01/rounds/1/close", "MLP-01", {})
    # MLP-02 might have dealt an earlier winner until its round is over and it has closed.
    product.post("/v1/tables/MLP-02/rounds/1/close", "MLP-02", {})
    product.post("/v1/tables/MLP-02/close", "MLP-02", {})
    expect(notice).to_be_hidden(timeout=SOON)
    expect(value).to_have_text(re.compile(r"^\$50,003\.45$"))
    assert product.get("/v1/meters/mlp-major")["cycle"] == 2
    awarded = product.get("/v1/claims/MLP-01.1.2", "operator")
    assert (awarded["status"], awarded["amount_cents"]) == ("awarded", 5_000_345)
