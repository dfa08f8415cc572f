"""The lab: the playground's page on a real control plane, Kueue, nodes, metrics, with a stream of jobs."""
