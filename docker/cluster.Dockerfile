# A machine of a labelspace cluster: Ray, labelspace and its kernels, compiled beforehand.
#
#   docker build -f docker/cluster.Dockerfile -t labelspace-cluster .
#
# All machines run this one image, so that Python, Ray and all libraries are the same versions.

FROM python:3.12-slim AS built
WORKDIR /src
COPY requirements requirements
RUN python -m venv /opt/labelspace && \
    /opt/labelspace/bin/pip install --no-cache-dir --requirement requirements/cluster.lock && \
    /opt/labelspace/bin/pip install --no-cache-dir --constraint requirements/all.lock pyarrow \
        "setuptools>=77"
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/labelspace/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.12-slim
# libgomp is what faiss and scikit-learn share threads by.
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && \
    rm -rf /var/lib/apt/lists/* && useradd --create-home --uid 1000 labelspace && \
    mkdir /cluster && chown labelspace /cluster
COPY --from=built /opt/labelspace /opt/labelspace
# Machine code for any CPU of the architecture: what is compiled here is found again elsewhere.
ARG NUMBA_CPU_NAME=generic
ENV PATH=/opt/labelspace/bin:$PATH \
    NUMBA_CPU_NAME=${NUMBA_CPU_NAME} \
    NUMBA_CACHE_DIR=/home/labelspace/.cache/kernels \
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
    RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0
USER labelspace
WORKDIR /cluster
# Trains and asks a small model once, so that no worker waits for the compiler.
COPY --chown=labelspace docker/warm_cluster.py /home/labelspace/warm_cluster.py
RUN python /home/labelspace/warm_cluster.py
EXPOSE 6379 8265 10001
CMD ["ray", "start", "--head", "--block", "--port=6379", "--dashboard-host=0.0.0.0"]
