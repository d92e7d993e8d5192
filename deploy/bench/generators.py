"""The load generators: C programs, compiled for the run. Python would measure itself."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from deploy.bench.workload import FIRST_NUMBER, Line

HERE = Path(__file__).parent
NUMBERS_PER_RUN = 10_000_000
"""Every run starts above all numbers of the runs before it."""


class BenchError(Exception):
    """The bench could not run."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to send, and what must come back."""

    port: int
    expected: tuple[str, ...]
    """For HTTP the status, and perhaps a text and how often it occurs; for the script a count of rounds."""
    password: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one run of a generator found."""

    per_second: float
    p50_ms: float
    p99_ms: float
    other: int
    complaint: str
    acknowledged: list[int]


class Generators:
    """Compiles what there is a compiler for, and runs it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._first = (FIRST_NUMBER + i * NUMBERS_PER_RUN for i in count())
        self.compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if self.compiler:
            self._http = [str(self._compile("http_load"))]
            self._script = [str(self._compile("raw_evalsha"))]
        else:
            self._http = [sys.executable, "-m", "deploy.bench.python_load"]
            self._script = []

    def http(self, target: Target, lines: list[Line], seconds: float) -> Figures:
        """Send HTTP requests."""
        return self._run(self._http, target, lines, seconds)

    def script(self, target: Target, lines: list[Line], seconds: float) -> Figures:
        """Send script calls to Redis."""
        return self._run(self._script, target, lines, seconds)

    def _compile(self, name: str) -> Path:
        program = self._folder / name
        source = HERE / f"{name}.c"
        subprocess.run([str(self.compiler), "-O2", "-D_GNU_SOURCE", "-o", program, source], check=True)
        return program

    def _run(self, program: list[str], target: Target, lines: list[Line], seconds: float) -> Figures:
        requests = self._folder / "requests"
        requests.write_bytes(b"".join(b"%d\n%s" % (len(line.request), line.request) for line in lines))
        words = ["127.0.0.1", str(target.port), str(seconds), str(next(self._first)), str(requests)]
        done = subprocess.run(
            [*program, *words, *target.expected],
            check=False,
            env={**os.environ, **({"REDIS_PASSWORD": target.password} if target.password else {})},
            capture_output=True,
            text=True,
            timeout=seconds + 60,
        )
        if done.returncode:
            raise BenchError(f"{program[-1]} ended with {done.returncode}: {done.stderr.strip()}")
        found = json.loads(done.stdout)
        found.pop("answers")
        return Figures(**found)
