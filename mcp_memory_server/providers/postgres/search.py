"""Ranking rows of scopes, held in memory and brought up to date by what changed since."""

from __future__ import annotations

from mcp_memory_server.providers.base import Hit, SearchRequest

from .connection import Transaction


class ScopeCache:
    def __init__(self, language: str | None = None) -> None:
        self.language = language


async def search(db: Transaction, cache: ScopeCache, request: SearchRequest) -> tuple[Hit, ...]:
    raise NotImplementedError
