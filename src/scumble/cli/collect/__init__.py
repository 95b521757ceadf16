"""scumble collect: a survey whose answers are perturbed before they are sent, from its spec to its release."""

import typer

from scumble.cli.collect import close, codes, demo, new, serve

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

for module in (new, codes, serve, close, demo):
    app.command(name=module.__name__.rsplit(".", 1)[-1])(module.command)


@app.callback()
def collect() -> None:
    """Collect answers that people perturb themselves: make a survey, serve it, and close it into a release."""
