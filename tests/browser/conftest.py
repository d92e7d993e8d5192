"""The machine's own Chromium, and the real product for it to look at."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.support.product import Product

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium. Without it nothing here is tested: a loud skip, and a failure where CI is set."""
    found = shutil.which("chromium")
    if found is None:
        reason = "NO BROWSER TESTS: chromium is not installed (deploy/bin/test-tools installs it)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def product(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product, running with the sample floor."""
    running = Product(tmp_path_factory.mktemp("product"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def context(browser: Browser, product: Product) -> Iterator[BrowserContext]:
    """A browser that has seen nothing yet."""
    fresh = browser.new_context(base_url=product.base, viewport={"width": 1920, "height": 1080})
    yield fresh
    fresh.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A page; it closes with its context."""
    return context.new_page()
