"""From settings to an open service: the one place where a store is opened with what the user configured."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Final

from .config import Settings
from .errors import ConfigurationError
from .providers import open_provider
from .providers.base import MemoryProvider
from .providers.signatures import check_language
from .service import Limits, MemoryService, OpenEmbedder, Retention

_SQLITE: Final = "sqlite://"
_IN_MEMORY: Final = "memory://"


@asynccontextmanager
async def open_service(settings: Settings) -> AsyncGenerator[MemoryService]:
    """The service over the configured store. Leaving writes what the journal still holds, and closes the store.

    Raises:
        ConfigurationError: the URL cannot work; nothing was opened.
        StoreError: the store cannot be opened.
    """
    try:
        check_language(settings.language)
    except ConfigurationError as error:
        raise ConfigurationError(f"The setting language ({settings.origin('language')}) cannot work: {error}") from None
    async with AsyncExitStack() as opened:
        try:
            provider = await opened.enter_async_context(_store(settings))
        except ConfigurationError as error:
            raise ConfigurationError(f"The setting url ({settings.origin('url')}) cannot work: {error}") from error
        service = MemoryService(
            provider,
            limits=Limits(
                settings.max_memories, settings.max_fact_chars, settings.max_sensitivity, settings.promote_after
            ),
            retention=Retention(settings.journal_days, settings.journal_digests),
            open_embedder=_embedder_opener(settings),
            quarantine=settings.quarantine,
        )
        yield await opened.enter_async_context(service)


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
    return open_provider(settings.url)


def _embedder_opener(settings: Settings) -> OpenEmbedder | None:
    """What loads the configured embedder, at first use; the form of the setting is checked now."""
    setting = settings.embedder
    if setting is None:
        return None
    from .embedding import check_embedder_setting, open_embedder  # noqa: PLC0415  # only where one is configured

    try:
        check_embedder_setting(setting)
    except ConfigurationError as error:
        raise ConfigurationError(f"The setting embedder ({settings.origin('embedder')}) cannot work: {error}") from None
    key = settings.embedder_api_key
    return lambda: open_embedder(setting, key.get_secret_value() if key else None)
