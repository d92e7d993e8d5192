"""The peer: how the same route is usually written, with an ORM and a row lock, and written correctly.

One transaction per round: a unique key over table and round makes a retry harmless, SELECT ... FOR UPDATE
makes the meter exact, PostgreSQL's synchronous commit makes it durable. It belongs to no package of the
product; the bench serves it like any WSGI application.
"""

import json
import os
import sys

from flask import Flask, Response, request
from sqlalchemy import BigInteger, ForeignKey, Text, UniqueConstraint, create_engine, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

JSON = "application/json"


class Base(DeclarativeBase):
    pass


class Meter(Base):
    __tablename__ = "meters"

    link: Mapped[str] = mapped_column(primary_key=True)
    bet_cents: Mapped[int]
    rate_ppm: Mapped[int]
    value: Mapped[int] = mapped_column(BigInteger)


class Contribution(Base):
    __tablename__ = "contributions"
    __table_args__ = (UniqueConstraint("table_id", "round"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    table_id: Mapped[str]
    round: Mapped[int] = mapped_column(BigInteger)
    link: Mapped[str] = mapped_column(ForeignKey("meters.link"))
    amount: Mapped[int] = mapped_column(BigInteger)
    after: Mapped[int] = mapped_column(BigInteger)
    body: Mapped[str] = mapped_column(Text)


engine = create_engine(os.environ["PEER_DATABASE_URL"], pool_size=int(os.environ["PEER_THREADS"]))
links: dict[str, str] = json.loads(os.environ["PEER_LINKS"])
app = Flask("row_lock")


@app.post("/v1/tables/<table>/rounds/<int:number>/bets")
def post_bets(table: str, number: int) -> Response:
    body = request.get_json()
    bets = sum(1 for box in body["boxes"] if box.get("progressive_cents"))
    link = links[table]
    try:
        with Session(engine) as session, session.begin():
            meter = session.scalars(select(Meter).where(Meter.link == link).with_for_update()).one()
            amount = bets * meter.bet_cents * meter.rate_ppm
            meter.value += amount
            after = meter.value
            session.add(
                Contribution(
                    table_id=table,
                    round=number,
                    link=link,
                    amount=amount,
                    after=after,
                    body=json.dumps(body),
                )
            )
    except IntegrityError:
        return _recorded(table, number)
    return _answer(201, table, number, after)


@app.get("/readyz")
def ready() -> Response:
    return Response(b"{}", content_type=JSON)


def _recorded(table: str, number: int) -> Response:
    query = select(Contribution).where(Contribution.table_id == table, Contribution.round == number)
    with Session(engine) as session:
        return _answer(200, table, number, session.scalars(query).one().after)


def _answer(status: int, table: str, number: int, after: int) -> Response:
    answer = {"table": table, "round": number, "displayed_cents": after // 1_000_000}
    return Response(json.dumps(answer), status, content_type=JSON)


def main(verb: str) -> None:
    """`create` makes the tables and the meters of PEER_METERS; `values` and `version` print what there is."""
    with Session(engine) as session, session.begin():
        if verb == "create":
            for setting in ("fsync", "synchronous_commit"):
                if session.scalar(text(f"SHOW {setting}")) != "on":
                    raise SystemExit(f"PostgreSQL has {setting} off: what it acknowledged could be lost")
            Base.metadata.create_all(session.connection())
            session.add_all(Meter(**meter) for meter in json.loads(os.environ["PEER_METERS"]))
        elif verb == "version":
            print(json.dumps(session.scalar(text("SHOW server_version"))))
        else:
            print(json.dumps({meter.link: meter.value for meter in session.scalars(select(Meter))}))


if __name__ == "__main__":
    main(sys.argv[1])
