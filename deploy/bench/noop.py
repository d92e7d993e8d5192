"""The yardstick: a Flask handler that reads its body and does nothing."""

from flask import Flask, Response, request

ANSWER = b'{"status":"ok"}'

app = Flask("noop")


@app.post("/noop")
def noop() -> Response:
    request.get_data(cache=False)
    return Response(ANSWER, content_type="application/json")


@app.get("/readyz")
def ready() -> Response:
    return Response(ANSWER, content_type="application/json")
