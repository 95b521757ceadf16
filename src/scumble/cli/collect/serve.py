"""scumble collect serve: the server that takes answers."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    survey: Annotated[Path, typer.Argument(help="The survey (JSON).", show_default=False)],
    store: Annotated[
        str,
        typer.Option(
            help="Where answers are kept: a file, or postgresql://user@host/db?store=NAME.", show_default=False
        ),
    ],
    port: Annotated[int, typer.Option(help="The port to listen at; 0 for any that is free.", min=0, max=65535)] = 8000,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    tls_cert: Annotated[Path | None, typer.Option(help="A certificate (PEM): the server speaks TLS itself.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The private key of the certificate (PEM).")] = None,
    proxy: Annotated[
        str | None, typer.Option(help="Addresses of proxies whose X-Forwarded-For is believed, such as 127.0.0.1.")
    ] = None,
    rate: Annotated[float, typer.Option(help="Requests a second from one address, 0 for any number.")] = 50.0,
    timeout: Annotated[float, typer.Option(help="Seconds that a body, or a question, may take.")] = 20.0,
    issuer_key: Annotated[
        Path | None, typer.Option(help="The private key of blind tokens, where this server gives them out.")
    ] = None,
    admin_port: Annotated[
        int | None,
        typer.Option(help="A port on this machine alone, for status, metrics, codes and closing.", min=0, max=65535),
    ] = None,
    admin_token: Annotated[
        Path | None, typer.Option(help="The file with the token of the administrator; made where there is none.")
    ] = None,
    reader_token: Annotated[
        Path | None,
        typer.Option(help="The file with the token of who may see live answers; made where there is none."),
    ] = None,
    messages: Annotated[
        list[Path] | None,
        typer.Option(help="A message file of the pages for another language, such as it.json; may be repeated."),
    ] = None,
) -> None:
    """Serve a survey: take messages, and acknowledge each when it is on the disk."""
    from scumble.collect.reading import open_survey
    from scumble.collect.server import serve
    from scumble.collect.settings import ServerSettings, token_in
    from scumble.collect.stores import open_store
    from scumble.core.errors import ParameterError

    if (tls_cert is None) != (tls_key is None):
        raise ParameterError("a certificate and its key go together: --tls-cert and --tls-key")
    if (admin_port is None) != (admin_token is None):
        raise ParameterError("the administrator has a port and a token: --admin-port and --admin-token")
    opened = open_survey(survey)
    live = opened.record.live
    if (reader_token is not None) != (live is not None and live.readers == "token"):
        raise ParameterError("--reader-token goes with a survey that shows live answers to who has a token")
    open_store(store, opened.text()).disconnect()
    settings = ServerSettings(
        store=store,
        host=host,
        port=port,
        certificate=tls_cert,
        key=tls_key,
        proxy=proxy,
        rate=rate,
        seconds=timeout,
        admin_port=admin_port,
        admin_token="" if admin_token is None else token_in(admin_token),
        issuer=issuer_key,
        reader_token="" if reader_token is None else token_in(reader_token),
        messages=tuple(messages or ()),
    )
    serve(opened, settings)
