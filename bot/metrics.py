"""The bot's own metrics: their names, labels and meaning. One registry per running bot."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0)


class Metrics:
    """What an operator watches: Slack acked in time, answers that come, an outbox that drains."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.acks = Histogram(
            "gpubot_ack_seconds",
            "From the arrival of a payload to its acknowledgement; above 3 people see an error.",
            ["kind"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.answers = Histogram(
            "gpubot_answer_seconds",
            "From the acknowledgement to the end of the work, by what was asked.",
            ["what"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.outcomes = Counter(
            "gpubot_outcomes_total",
            "What people were given: answer, or the kind of error that was told.",
            ["what", "outcome"],
            registry=self.registry,
        )
        self.duplicates = Counter(
            "gpubot_duplicates_total",
            "Payloads that came again and did nothing, by what recognised them.",
            ["by"],
            registry=self.registry,
        )
        self.deliveries = Counter(
            "gpubot_deliveries_total",
            "Messages of the outbox, by outcome.",
            ["outcome"],
            registry=self.registry,
        )
        self.jobs = Counter(
            "gpubot_jobs_total",
            "Runs of scheduled jobs, by job and outcome.",
            ["job", "outcome"],
            registry=self.registry,
        )
        self.job_seconds = Histogram(
            "gpubot_job_seconds",
            "How long scheduled jobs take.",
            ["job"],
            buckets=SECONDS,
            registry=self.registry,
        )

    def watch(self, name: str, meaning: str, value: Callable[[], float]) -> None:
        """Add a gauge that is read when Prometheus scrapes."""
        Gauge(name, meaning, registry=self.registry).set_function(value)
