"""From settings to an open service: the one place where a store is opened with what the user configured."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Final

from .config import Settings
from .errors import ConfigurationError
from .providers import open_provider
from .providers.base import MemoryProvider
from .providers.signatures import check_language
from .recall import Estimator, SelectionRequest, Selector, estimate_tokens
from .service import Limits, MemoryService, OpenEmbedder, Retention, SelectorGuard

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

    try:
        check_selector_setting(setting)
    except ConfigurationError as error:
        raise ConfigurationError(f"The setting selector ({settings.origin('selector')}) cannot work: {error}") from None
    key = settings.selector_api_key

    def open_it() -> Selector:
        return open_selector(setting, key.get_secret_value() if key else None)

    return SelectorGuard(_LazySelector(open_it), settings.selector_timeout_s)


def _estimator(settings: Settings) -> Estimator:
    setting = settings.token_estimator
    if setting is None:
        return estimate_tokens
    from .estimating import open_estimator  # noqa: PLC0415  # likewise

    try:
        return open_estimator(setting)
    except ConfigurationError as error:
        origin = settings.origin("token_estimator")
        raise ConfigurationError(f"The setting token_estimator ({origin}) cannot work: {error}") from None
