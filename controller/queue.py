"""The Celery application, set up so that a lost, repeated or reordered message changes nothing.

What Celery does by default with Redis, and what we do about it, is in docs/workers.md.
"""

from celery import Celery

from controller.settings import Settings

DRAIN = "jackpot.drain"
SWEEP = "jackpot.sweep"
QUEUE = "jackpot"
UNDER_WAY_SECONDS = 5
"""How long a drain that was asked for counts as under way; then it may be asked for again."""
MESSAGE_SECONDS = 30
"""A message that nobody took by then says nothing that a newer one does not say."""


def make_celery(settings: Settings) -> Celery:
    """A Celery application for this broker. Senders and workers share it."""
    app = Celery("jackpot", broker=settings.celery_broker_url)
    app.conf.update(
        # No result backend: a backend that is down would drop jobs, and nobody reads results.
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        task_default_queue=QUEUE,
        task_serializer="json",
        accept_content=["json"],
        # A message of a dead worker comes back after a minute; the sweep has long done its work by then.
        broker_transport_options={
            "visibility_timeout": 60,
            "socket_timeout": 10,
            "socket_connect_timeout": 5,
        },
        broker_connection_retry_on_startup=True,
        # Publishing is a hint: give up quickly, never hold a table's request.
        task_publish_retry=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_send_task_events=False,
        beat_schedule={
            "sweep": {
                "task": SWEEP,
                "schedule": float(settings.sweep_seconds),
                "options": {"expires": settings.sweep_seconds * 2},
            }
        },
        # Intervals only: nothing to remember between runs, so no schedule file that a crash could break.
        beat_scheduler="celery.beat:Scheduler",
    )
    return app
