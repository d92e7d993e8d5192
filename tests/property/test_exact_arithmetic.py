"""The pairs of exact.lua against Python's integers, far beyond what a double can hold."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.store.connection import connect
from controller.store.scripts import load_scripts

AMOUNTS = st.integers(0, 9_223_372_036_853_999_999)


@pytest.fixture(scope="module")
def evaluate(redis_url: str) -> Callable[..., str]:
    source = load_scripts()["contribute"].source
    library = source[: source.index("-- The head of a link")]
    client = connect(redis_url)

    def run(expression: str, *arguments: int) -> str:
        return str(client.eval(f"{library}\n{expression}", 0, *map(str, arguments)))

    return run


@settings(max_examples=300, deadline=None)
@given(a=AMOUNTS)
def test_parse_and_format_are_inverse(evaluate: Callable[..., str], a: int) -> None:
    assert evaluate("return exact_format(exact_parse(ARGV[1]))", a) == str(a)


@settings(max_examples=300, deadline=None)
@given(a=AMOUNTS, b=AMOUNTS)
def test_add_sub_and_less(evaluate: Callable[..., str], a: int, b: int) -> None:
    low, high = sorted((a, b))
    pair = "local a, b = exact_parse(ARGV[1]), exact_parse(ARGV[2]) "
    assert evaluate(pair + "return exact_format(exact_sub(b, a))", low, high) == str(high - low)
    assert evaluate(pair + "return tostring(exact_less(a, b))", a, b) == str(a < b).lower()
    if a + b < 2**63:
        assert evaluate(pair + "return exact_format(exact_add(a, b))", a, b) == str(a + b)


@settings(max_examples=300, deadline=None)
@given(cents=st.integers(0, 7 * 10**10), ppm=st.integers(0, 1_000_000))
def test_share_is_the_exact_product(evaluate: Callable[..., str], cents: int, ppm: int) -> None:
    text = "return exact_format(exact_share(tonumber(ARGV[1]), tonumber(ARGV[2])))"
    assert evaluate(text, cents, ppm) == str(cents * ppm)
