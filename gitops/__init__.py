"""Changes: request, policy, edit, pull request, approvals, rollout. Knows no Slack."""
