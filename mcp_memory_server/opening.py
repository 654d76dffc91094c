"""From settings to an open service: the one place where a store is opened with what the user configured."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from .config import Settings
from .errors import ConfigurationError
from .providers import open_provider
from .providers.base import MemoryProvider
from .providers.migrating import Migrated, MigrationRequest
from .providers.signatures import check_language
from .recall import Estimator, SelectionRequest, Selector, estimate_tokens
from .service import Limits, MemoryService, OpenEmbedder, Retention, SelectorGuard

_SQLITE: Final = "sqlite://"
_IN_MEMORY: Final = "memory://"
_POSTGRES: Final = ("postgresql://", "postgres://")
_POSTGRES_PORT: Final = 5432


@asynccontextmanager
async def open_service(settings: Settings) -> AsyncGenerator[MemoryService]:
    """The service over the configured store. Leaving writes what the journal still holds, and closes the store.

    Raises:
        ConfigurationError: the URL cannot work; nothing was opened.
        StoreError: the store cannot be opened.
    """
    async with AsyncExitStack() as opened:
        provider = await opened.enter_async_context(open_store(settings))
        service = MemoryService(
            provider,
            limits=Limits(
                settings.max_memories,
                settings.max_fact_chars,
                settings.max_sensitivity,
                settings.promote_after,
                settings.selective_over,
                settings.max_records,
            ),
            retention=Retention(settings.journal_days, settings.journal_digests),
            open_embedder=_embedder_opener(settings),
            quarantine=settings.quarantine,
            selector=_selector(settings),
            estimate=_estimator(settings),
        )
        yield await opened.enter_async_context(service)


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncGenerator[MemoryProvider]:
    """The configured store by itself.

    Raises:
        ConfigurationError: the URL cannot work; nothing was opened.
        StoreError: the store cannot be opened.
    """
    with _named(settings, "language"):
        check_language(settings.language)
    async with AsyncExitStack() as opened:
        with _named(settings, "url"):
            provider = await opened.enter_async_context(_store(settings))
        yield provider


def is_missing(settings: Settings) -> bool:
    """Whether opening the configured store would make a new file."""
    path = _path_of(settings)
    return path is not None and not path.exists()


def keeps_sessions(settings: Settings) -> bool:
    """Whether older clients get sessions: unless settings say so, not where servers of several machines share a store.

    Behind a proxy that sends each request to any of them, a session would be unknown to all but one.
    """
    if settings.sessions == "auto":
        return not settings.url.startswith(_POSTGRES)
    return settings.sessions == "kept"


def are_one_store(one: Settings, other: Settings) -> bool:
    """Whether two URLs mean one store, however they are spelled, whoever connects and by whatever way."""
    paths = _path_of(one), _path_of(other)
    if paths[0] is not None and paths[1] is not None:
        return paths[0] == paths[1] or (paths[0].exists() and paths[1].exists() and paths[0].samefile(paths[1]))
    return _place_of(one.url) == _place_of(other.url)


def _path_of(settings: Settings) -> Path | None:
    """The file of a SQLite store; None for any other."""
    if not settings.url.startswith(_SQLITE):
        return None
    from .providers.sqlite.files import path_of  # noqa: PLC0415  # a driver is loaded for the store that needs it

    with _named(settings, "url"):
        return path_of(settings.url)


def _place_of(url: str) -> tuple[object, ...]:
    """What of a URL says where a store is: not who connects, nor how."""
    if not url.startswith(_POSTGRES):
        return (url,)
    parts = urlsplit(url)
    return "postgresql", parts.hostname or "localhost", parts.port or _POSTGRES_PORT, parts.path.strip("/")


def _store(settings: Settings) -> AbstractAsyncContextManager[MemoryProvider]:
    language = settings.language
    if settings.url.startswith(_SQLITE):
        from .providers.sqlite import open_sqlite  # noqa: PLC0415  # a driver is loaded for the store that needs it

        return open_sqlite(
            settings.url,
            busy_timeout_s=settings.busy_timeout_s,
            synchronous=settings.synchronous,
            language=language,
        )
    if settings.url.startswith(_IN_MEMORY):
        from .providers.in_memory import open_in_memory  # noqa: PLC0415  # likewise

        return open_in_memory(settings.url, language=language)
    if settings.url.startswith(_POSTGRES):
        from .providers.postgres import Limits as PostgresLimits  # noqa: PLC0415  # likewise
        from .providers.postgres import open_postgres  # noqa: PLC0415

        limits = PostgresLimits(settings.busy_timeout_s, settings.statement_timeout_s, settings.pool_size)
        # Where an owner is named, migrating is that one's act.
        return open_postgres(settings.url, limits=limits, language=language, migrates=settings.admin_url is None)
    return open_provider(settings.url)


async def migrate_store(settings: Settings, partitions: int, server_role: str | None) -> Migrated | None:
    """Make or upgrade the configured store as its owner, and let servers use it.

    Args:
        partitions: as in `MigrationRequest`.
        server_role: None for the one in the store's URL.

    Returns:
        None for a kind of store that does all that when it is opened.

    Raises:
        ConfigurationError, StoreError
    """
    if not settings.url.startswith(_POSTGRES):
        return None
    owner = settings.admin_url
    with _named(settings, "url"):
        from .providers.postgres import migrate  # noqa: PLC0415  # a driver is loaded for the store that needs it

        if server_role is None and owner is not None:
            server_role = migrate.server_role_of(settings.url)
    with _named(settings, "url" if owner is None else "admin_url"):
        url = settings.url if owner is None else owner.get_secret_value()
        return await migrate.migrate_store(url, MigrationRequest(partitions, server_role))


@contextmanager
def _named(settings: Settings, name: str) -> Generator[None]:
    """Say of what cannot work which setting it is, and where that came from."""
    try:
        yield
    except ConfigurationError as error:
        raise ConfigurationError(f"The setting {name} ({settings.origin(name)}) cannot work: {error}") from error


def _embedder_opener(settings: Settings) -> OpenEmbedder | None:
    """What loads the configured embedder, at first use; the form of the setting is checked now."""
    setting = settings.embedder
    if setting is None:
        return None
    from .embedding import check_embedder_setting, open_embedder  # noqa: PLC0415  # only where one is configured

    with _named(settings, "embedder"):
        check_embedder_setting(setting)
    key = settings.embedder_api_key
    return lambda: open_embedder(setting, key.get_secret_value() if key else None)


class _LazySelector:
    """The configured selector, loaded by the first turn that needs it: in its guard's thread, within the time limit."""

    def __init__(self, open_it: Callable[[], Selector]) -> None:
        self._open = open_it
        self._opened: Selector | None = None

    async def select(self, request: SelectionRequest) -> Sequence[str]:
        if self._opened is None:
            self._opened = self._open()
        return await self._opened.select(request)


def _selector(settings: Settings) -> SelectorGuard | None:
    setting = settings.selector
    if setting is None:
        return None
    from .selecting import check_selector_setting, open_selector  # noqa: PLC0415  # only where one is configured

    with _named(settings, "selector"):
        check_selector_setting(setting)
    key = settings.selector_api_key

    def open_it() -> Selector:
        return open_selector(setting, key.get_secret_value() if key else None)

    return SelectorGuard(_LazySelector(open_it), settings.selector_timeout_s)


def _estimator(settings: Settings) -> Estimator:
    setting = settings.token_estimator
    if setting is None:
        return estimate_tokens
    from .estimating import open_estimator  # noqa: PLC0415  # likewise

    with _named(settings, "token_estimator"):
        return open_estimator(setting)
