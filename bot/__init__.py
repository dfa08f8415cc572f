"""The shell: Slack, time, disk, environment, terminal and playground."""
