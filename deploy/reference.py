"""The reference pages in docs/, written from the code that they describe: `make docs`."""

from dataclasses import fields
from pathlib import Path

from api.problems import MEANINGS
from controller.settings import Settings, variable

_DOCS = Path(__file__).parents[1] / "docs"


def pages() -> dict[str, str]:
    """Each page's name and text."""
    return {"settings.md": _settings(), "errors.md": _errors()}


def _settings() -> str:
    rows = []
    for item in fields(Settings):
        default = f"`{item.default}`" if item.default != "" else ""
        rows.append(f"| `{variable(item.name)}` | {default} | {item.metadata['meaning']}. |")
    return "\n".join(
        [
            "# Settings",
            "",
            "By environment variable; an unknown name or a value of the wrong type is refused at start.",
            "`jackpot settings` prints the same list.",
            "",
            "| variable | default | meaning |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _errors() -> str:
    rows = [f"| `{code}` | {status} | {meaning} |" for code, (status, _, meaning) in MEANINGS.items()]
    return "\n".join(
        [
            "# Error codes",
            "",
            "Every refusal is an RFC 9457 problem document (`application/problem+json`) with a `code` that",
            "is never renamed. `errors` names each wrong field by its path: `boxes[2].progressive_cents`.",
            "A refused request has changed nothing. After a 503 or a lost answer, send the same request",
            "again: what was recorded is answered as recorded.",
            "",
            "| code | status | meaning |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def main() -> None:
    """Write the pages."""
    for name, text in pages().items():
        (_DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
