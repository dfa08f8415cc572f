"""Questions: one module per question, Ask -> Answer -> Page. Knows no Slack."""
