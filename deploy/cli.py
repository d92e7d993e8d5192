"""`jackpot`: what an operator does from a terminal."""

import os
import sys
from dataclasses import fields, replace
from pathlib import Path

import click

from controller.errors import JackpotError
from controller.floor.file import load_floor
from controller.games.standard import standard_rules, standard_text
from controller.settings import Settings, load_settings, variable
from deploy.embedded_redis import url_of_running
from deploy.odds_chart import write_charts
from deploy.odds_report import ask, find_floor, report_json, report_text
from deploy.prepare import OPERATOR, apply_floor, now, prepare_database
from deploy.supervisor import supervise
from models.audit import check_link
from models.engine import Ledger
from models.in_force import floor_in_force
from models.keys import Role, issue_key, revoke_keys


@click.group()
@click.version_option(package_name="linked-jackpot-controller")
def main() -> None:
    """The controller of linked progressive jackpots on table games."""


@main.command()
def run() -> None:
    """Run the whole product on this machine."""
    sys.exit(supervise(_settings()))


@main.command()
def api() -> None:
    """Serve the API (granian)."""
    settings = _settings()
    _become(
        "granian",
        "--interface=wsgi",
        f"--host={settings.host}",
        f"--port={settings.port}",
        f"--workers={settings.api_processes}",
        f"--blocking-threads={settings.api_threads}",
        "--backpressure=256",
        "--respawn-failed-workers",
        "--no-ws",
        "--log-level=warning",
        "api.main:app",
    )


@main.command()
def worker() -> None:
    """Run a Celery worker: journal to ledger."""
    _become(
        "celery",
        "--quiet",
        "--app=workers.main",
        "worker",
        # Threads: one process that dies whole, and SQL or Redis do the waiting outside the GIL.
        "--pool=threads",
        f"--concurrency={_settings().worker_threads}",
        "--queues=jackpot",
        "--without-gossip",
        "--without-mingle",
        "--loglevel=WARNING",
    )


@main.command()
def beat() -> None:
    """Run Celery's clock: the sweep that finds work whose message was lost."""
    _become("celery", "--quiet", "--app=workers.main", "beat", "--loglevel=WARNING", "--pidfile=")


@main.command()
def migrate() -> None:
    """Bring the database to this version's schema."""
    prepare_database(_settings())
    click.echo("The schema is up to date.")


@main.group()
def floor() -> None:
    """The floor: links, meters, pay tables, tables."""


@floor.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def check(file: Path) -> None:
    """Say what is wrong with a floor file, or that nothing is."""
    with _sentences():
        found = load_floor(file)
    click.echo(
        f"{file}: {len(found.links)} links, {len(found.meter_links)} meters, {len(found.tables)} tables."
    )


@floor.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def apply(file: Path) -> None:
    """Put a floor file in force."""
    with _sentences():
        applied = apply_floor(_with_running_redis(_settings()), file.read_text(encoding="utf-8"), str(file))
    changed = ", ".join(applied.changed_links) or "no link"
    click.echo(f"Floor version {applied.version} is in force; changed: {changed}.")


@main.command()
@click.argument("name", required=False)
def rules(name: str | None) -> None:
    """List the standard rule sets, or print one: the start of a casino's own."""
    if name is None:
        for known in standard_rules().values():
            click.echo(f"{known.id:14}{known.game:5}{known.title}, version {known.version}")
    elif name in standard_rules():
        click.echo(standard_text(name), nl=False)
    else:
        raise click.ClickException(f"there is no rule set {name!r}; `jackpot rules` lists them")


@main.group()
def keys() -> None:
    """Keys of tables and operators."""


@keys.command()
@click.argument("subject")
def issue(subject: str) -> None:
    """Issue a key for a table, or for `operator`. It is shown once."""
    ledger = Ledger(_settings().ledger_url)
    with _sentences():
        found = floor_in_force(ledger)
        if subject != OPERATOR and (found is None or subject not in found[1].tables_by_id):
            raise JackpotError(f"there is no table {subject!r} on the floor in force")
        role = Role.OPERATOR if subject == OPERATOR else Role.TABLE
        click.echo(issue_key(ledger, role, subject, now()))


@keys.command()
@click.argument("subject")
def revoke(subject: str) -> None:
    """Revoke every key of a table, or of `operator`."""
    with _sentences():
        count = revoke_keys(Ledger(_settings().ledger_url), subject, now())
    click.echo(f"{count} key(s) of {subject} revoked.")


@main.command()
def audit() -> None:
    """Walk every link's audit log: gaps, hash chain, postings, balances."""
    ledger = Ledger(_settings().ledger_url)
    with _sentences():
        found = floor_in_force(ledger)
        for link in found[1].link_ids if found else ():
            click.echo(f"{link}: {check_link(ledger, link)} entries, chain intact, balances exact.")


@main.command()
@click.argument("link")
@click.option(
    "--floor",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A floor file instead of the floor in force.",
)
@click.option("--boxes", type=click.IntRange(1, 12), default=6, show_default=True, help="Boxes in play.")
@click.option("--meter", "values", multiple=True, metavar="[NAME=]CENTS", help="A meter's value.")
@click.option("--json", "as_json", is_flag=True, help="Exact fractions, for programs.")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Write a chart.")
def odds(
    *, link: str, file: Path | None, boxes: int, values: tuple[str, ...], as_json: bool, svg: Path | None
) -> None:
    """Exact odds of a link's progressive bet: hands, return, break-even, the long run."""
    with _sentences():
        question = ask(find_floor(_settings(), file), link, boxes, values)
        for written in write_charts(question, svg) if svg else ():
            click.echo(f"Wrote {written}.", err=True)
    click.echo(report_json(question) if as_json else report_text(question))


@main.command()
def settings() -> None:
    """List every setting with its default and meaning."""
    for item in fields(Settings):
        click.echo(f"{variable(item.name)}={item.default!s}\n    {item.metadata['meaning']}.")


class _sentences:  # noqa: N801 - reads as a phrase where it is used
    """Turns our own errors into one sentence and exit code 1; anything else is a bug and shows as one."""

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, JackpotError):
            raise click.ClickException(str(error)) from error


def _settings() -> Settings:
    try:
        return load_settings()
    except ValueError as error:
        raise click.ClickException(str(error)) from error


def _with_running_redis(settings: Settings) -> Settings:
    """A Redis that is not named is the one that `jackpot run` started in the data directory."""
    return replace(settings, redis_url=settings.redis_url or url_of_running(settings.data_path / "redis"))


def _become(module: str, *arguments: str) -> None:
    """Replace this process, so that signals and exit codes are the server's own."""
    os.execv(sys.executable, [sys.executable, "-m", module, *arguments])  # noqa: S606 - our own command


if __name__ == "__main__":
    main()
