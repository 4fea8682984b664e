# labelspace serve in a container: docker build -t labelspace . ; see docs/docker.md
ARG PYTHON=3.13

FROM python:${PYTHON}-slim-bookworm AS build
WORKDIR /build
COPY requirements/core.lock requirements/all.lock requirements/
RUN python -m venv /opt/labelspace \
    && /opt/labelspace/bin/pip install --no-cache-dir --requirement requirements/core.lock
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/labelspace/bin/pip install --no-cache-dir --constraint requirements/all.lock \
        --no-build-isolation '.[serve,tables,vocabulary]'

FROM python:${PYTHON}-slim-bookworm
# Machine code for any CPU of the architecture: what is compiled here is found again elsewhere.
ARG NUMBA_CPU_NAME=generic
ENV NUMBA_CPU_NAME=${NUMBA_CPU_NAME} \
    NUMBA_CACHE_DIR=/var/cache/labelspace \
    PATH=/opt/labelspace/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# OpenMP, which faiss and scikit-learn bring themselves, needs nothing of the system.
RUN useradd --uid 10001 --no-create-home --home-dir /models --shell /usr/sbin/nologin labelspace \
    && install --directory --owner labelspace /models "$NUMBA_CACHE_DIR"
COPY --from=build /opt/labelspace /opt/labelspace
COPY docker/warm_up.py /opt/labelspace/warm_up.py
USER labelspace
RUN python /opt/labelspace/warm_up.py
VOLUME /models
WORKDIR /models
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
ENTRYPOINT ["labelspace"]
CMD ["serve", "/models/model", "--host", "0.0.0.0", "--port", "8000"]
