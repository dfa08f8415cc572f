"""Alembic's entry: on the connection it is given (the bot), or on ``-x url=`` (a developer)."""

from alembic import context
from sqlmodel import SQLModel, create_engine

from bot import store_rows  # noqa: F401  # fills the metadata


def run() -> None:
    """Run the migrations on a connection, in its transaction."""
    connection = context.config.attributes.get("connection")
    if connection is None:
        connection = create_engine(context.get_x_argument(as_dictionary=True)["url"]).connect()
    context.configure(
        connection=connection, target_metadata=SQLModel.metadata, render_as_batch=True
    )
    with context.begin_transaction():
        context.run_migrations()


run()
