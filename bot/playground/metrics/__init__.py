"""The playground's Prometheus: what dcgm-exporter and kube-state-metrics would have recorded."""

from bot.playground.metrics.server import MetricsServer

__all__ = ["MetricsServer"]
