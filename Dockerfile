# One process, one volume, no root. Build it from a clone: docker build -t mcp-memory .
FROM python:3.13-slim AS build
WORKDIR /source
COPY requirements/image.txt requirements/
# What the server needs, on SQLite or Postgres, in the versions that were tested, and the build tool.
RUN python -m venv /opt/venv && /opt/venv/bin/pip install --no-cache-dir --require-hashes -r requirements/image.txt
COPY pyproject.toml README.md LICENSE ./
COPY mcp_memory_server mcp_memory_server
RUN /opt/venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin memory \
    && mkdir -m 0700 /data && chown memory: /data
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 \
    MCP_MEMORY_URL=sqlite:////data/memory.db \
    MCP_MEMORY_TOKEN_FILE=/data/tokens.json \
    MCP_MEMORY_TRANSPORT=streamable-http \
    MCP_MEMORY_HOST=0.0.0.0
USER memory
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=10s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=5)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["mcp-memory-server"]
CMD ["serve"]
