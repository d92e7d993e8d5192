"""A supervised child process: started, watched, restarted with patience, stopped."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 4.0
HEALTHY_SECONDS = 5.0


def _in_child() -> None:
    # If the supervisor is killed outright, its children must not live on and hold ports and files.
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class Child:
    """One process of the product. `check` decides every so often whether it must be started again."""

    def __init__(
        self,
        name: str,
        command: list[str],
        environment: dict[str, str],
        log: Path,
        report: Callable[[str], None],
        *,
        holds: tuple[int, ...] = (),
    ) -> None:
        self.name = name
        self._command = command
        self._environment = environment
        self._log = log
        self._report = report
        self._holds = holds
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._pause = FIRST_PAUSE
        self._restart_at: float | None = None

    @property
    def pid(self) -> int:
        """The running process."""
        return self._process.pid if self._process else 0

    @property
    def running(self) -> bool:
        """Whether it is alive now."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it in a session of its own, so that Ctrl-C reaches only the supervisor."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own commands
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=self._holds,
                preexec_fn=_in_child,  # noqa: PLW1509 - prctl must run in the child
            )
        self._started_at = time.monotonic()
        self._restart_at = None

    def check(self) -> None:
        """Report a death once, and start again after a pause that grows while it keeps dying."""
        now = time.monotonic()
        if self._restart_at is not None:
            if now >= self._restart_at:
                self.start()
                self._report(f"{self.name} restarted (pid {self.pid})")
            return
        if self._process is None or self._process.poll() is None:
            return
        if now - self._started_at > HEALTHY_SECONDS:
            self._pause = FIRST_PAUSE
        self._report(f"{self.name} died ({_how(self._process.returncode)}), restarting; see {self._log}")
        self._kill_group()
        self._restart_at = now + self._pause
        self._pause = min(self._pause * 2, LONGEST_PAUSE)

    def stop(self, seconds: float) -> None:
        """Ask it to end; after the grace, end it."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                self._report(f"{self.name} did not stop in {seconds:.0f} s, killed")
        self._kill_group()
        self._process.wait()
        self._process = None

    def _kill_group(self) -> None:
        """Whatever the process left behind in its own session goes with it."""
        if self._process is not None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return


def _how(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
