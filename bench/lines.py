"""The line that every measure prints."""


def line(name: str, figure: float, unit: str, goal: float, *, more_is_better: bool = False) -> str:
    """Return ``NAME FIGURE UNIT goal GOAL ok|short``; units hold no blanks."""
    reached = figure >= goal if more_is_better else figure <= goal
    return f"{name} {figure:.3g} {unit} goal {goal:g} {'ok' if reached else 'short'}"
