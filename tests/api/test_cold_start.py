"""Many first requests at once. Incident: msgspec completes a type's description at its first use, and
threads that met there crashed the process; decoders are therefore built before anything is served.
"""

import subprocess
import sys

FIRST_REQUESTS = """
import sys, threading
from api.app import ROUTES
from api.exchange import Exchange
from api.problems import decode_body
from controller.betting.messages import read_facts

sys.setswitchinterval(1e-6)
exchanges = [Exchange(None, route) for route in ROUTES if route.body]
gate = threading.Barrier(16)
body = b'{"bets_closed_at":"2026-01-02T03:04:05Z","boxes":[{"box":1,"player":"a","ante_cents":5}]}'
bets = next(e for e in exchanges if e.route.path.endswith("/bets"))

def first():
    gate.wait()
    decode_body(body, bets._decoder)

threads = [threading.Thread(target=first) for _ in range(16)]
[t.start() for t in threads]
[t.join() for t in threads]
"""


def test_sixteen_first_requests_at_once_do_not_crash_the_process() -> None:
    for _ in range(5):
        assert subprocess.run([sys.executable, "-c", FIRST_REQUESTS], check=False).returncode == 0
