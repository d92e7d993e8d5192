"""House rules as tests: what a reviewer would have to remember."""

import ast
import re
from pathlib import Path

import pytest

from controller.errors import ScriptContractError
from controller.settings import load_settings
from controller.store.keys import LinkKeys
from controller.store.scripts import Script, load_scripts, parse_script
from deploy.reference import pages

ROOT = Path(__file__).parents[2]
PURE = [
    "money.py",
    "clock.py",
    "ids.py",
    "errors.py",
    "audit_chain.py",
    "floor",
    "journal",
    "betting",
    "games",
    "jackpots",
    "results",
    "wins",
]
FOLDERS = ("api", "controller", "deploy", "models", "workers")
SOURCES = sorted(p for d in FOLDERS for p in (ROOT / d).rglob("*.py") if p.parent.name != "versions")
STORES = ("link_store.py", "win_store.py")
LUA = sorted((ROOT / "controller/store/lua").rglob("*.lua"))


def pure_modules() -> list[Path]:
    found = [ROOT / "controller" / name for name in PURE]
    return [p for path in found for p in ([path] if path.suffix else sorted(path.rglob("*.py")))]


@pytest.mark.parametrize("path", pure_modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_domain_has_no_float_no_clock_and_no_chance(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), (
            f"float at {node.lineno}"
        )
        assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)), (
            f"division at {node.lineno}"
        )
        called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        assert called not in ("float", "round", "open"), called
        names = [a.name for a in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        assert not {"random", "time", "os", "secrets"} & set(names)
        assert not (isinstance(node, ast.Attribute) and node.attr in ("now", "utcnow", "today"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_and_functions_fit_in_the_head(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno <= 60, node.name


@pytest.mark.parametrize("script", load_scripts().values(), ids=lambda s: str(s.name))
def test_a_scripts_header_names_every_key_and_argument_that_it_uses(script: Script) -> None:
    own = (ROOT / "controller/store/lua" / f"{script.name}.lua").read_text()
    keys = {int(n) for n in re.findall(r"KEYS\[(\d+)\]", own)}
    arguments = {int(n) for n in re.findall(r"ARGV\[(\d+)\]", own)}
    assert keys == set(range(1, len(script.keys) + 1))
    assert arguments <= set(range(1, len(script.args) + 1))
    if not script.has_rest:
        assert arguments == set(range(1, len(script.args) + 1))
    assert all(isinstance(getattr(LinkKeys, key), property) for key in script.keys)


@pytest.mark.parametrize("script", load_scripts().values(), ids=lambda s: str(s.name))
def test_a_script_guards_before_it_writes_and_emits_what_its_header_says(script: Script) -> None:
    own = (ROOT / "controller/store/lua" / f"{script.name}.lua").read_text()
    guards, _, writes = own.partition("-- Writes start here.")
    assert writes, "the line '-- Writes start here.' separates guards from writes"
    assert not re.findall(r"redis\.call\('(?!HGET'|HMGET'|XRANGE'|TIME')\w+'", guards)
    emitted = re.findall(r"journal_append[(,] ?[^,]+, link, (?:late \.\. )?'(\w+)'", own)
    assert tuple(emitted) == script.emits
    callers = "".join((ROOT / "controller/store" / name).read_text() for name in STORES)
    assert f'"{script.name}"' in callers


def test_every_outcome_of_a_script_is_known_to_its_callers() -> None:
    callers = (ROOT / "controller/services/rounds.py").read_text()
    own = load_scripts()["contribute"].source
    for outcome in load_scripts()["contribute"].outcomes:
        assert f"'{outcome}'" in own
        assert f'"{outcome}"' in callers or outcome in ("replayed", "exists_with_different_body")


@pytest.mark.parametrize("path", LUA, ids=lambda p: p.name)
def test_lua_never_builds_keys_and_never_formats_numbers_by_accident(path: Path) -> None:
    code = re.sub(r"--.*", "", path.read_text())
    assert len(path.read_text().splitlines()) <= 180
    assert "tostring(" not in code
    assert "cjson" not in code
    assert not re.findall(r"redis\.call\('\w+', '", code), "keys arrive in KEYS"


def test_the_loader_refuses_scripts_and_calls_that_break_the_contract() -> None:
    with pytest.raises(ScriptContractError, match="which does not exist"):
        parse_script("x", "-- @keys link\n-- @returns 1\n-- @include nothing\n", {})
    with pytest.raises(ScriptContractError, match="@keys and @returns"):
        parse_script("x", "return 1", {})
    script = load_scripts()["raise_alarm"]
    with pytest.raises(ScriptContractError, match="takes"):
        script.arguments(LinkKeys("t"), [], {"subject": "s"})
    with pytest.raises(ScriptContractError, match="takes"):
        script.arguments(LinkKeys("t"), ["more"], {"subject": "s", "facts": "f"})


def test_the_reference_pages_say_what_the_code_says() -> None:
    for name, text in pages().items():
        assert (ROOT / "docs" / name).read_text() == text, f"docs/{name} is stale: make docs"


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"JACKPOT_PORT": "eighty"}, "JACKPOT_PORT: expected a whole number"),
        ({"JACKPOT_REQUIRE_DURABLE_REDIS": "yes"}, "expected 0 or 1"),
        ({"JACKPOT_NOTHING": "1"}, "unknown setting JACKPOT_NOTHING"),
    ],
)
def test_a_wrong_setting_is_named(environment: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_settings(environment)


def test_settings_come_from_the_environment() -> None:
    loaded = load_settings({"JACKPOT_PORT": "1", "JACKPOT_REQUIRE_DURABLE_REDIS": "0", "OTHER": "x"})
    assert (loaded.port, loaded.require_durable_redis, loaded.host) == (1, False, "127.0.0.1")


def test_no_word_of_the_repository_names_a_machine_or_a_registry() -> None:
    for path in ROOT.rglob("*"):
        skipped = any(
            part.startswith(".") or part in ("var", "build") for part in path.relative_to(ROOT).parts
        )
        if skipped or not path.is_file() or path.suffix in (".png", ".pyc") or "egg-info" in str(path):
            continue
        text = path.read_text(errors="ignore")
        for word in ("/wor" + "k/", "pypi" + ".org", "/ro" + "ot/", "registry.npm" + "js"):
            assert word not in text, f"{path}: {word}"
