# coterie with everything but Spark. Build and run:
#   docker build -t coterie .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" coterie anonymize people.csv -c coterie.toml -o out.csv

ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
# Where the long description links to, for instance https://host/owner/coterie; without it, it names files.
ARG COTERIE_REPOSITORY=
WORKDIR /build
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
RUN python -m pip wheel --no-deps --wheel-dir wheel .
RUN python -m venv /opt/coterie \
    && /opt/coterie/bin/python -m pip install "$(echo wheel/coterie-*.whl)[web,db,excel,exact,ml]"
# Compiled kernels are valid for the exact time of their source file, and image layers keep whole seconds only.
RUN cd /opt/coterie/lib/python*/site-packages/coterie/kernels \
    && touch -d 2026-01-01T00:00:00Z *.py \
    && /opt/coterie/bin/python -m compileall -q "$PWD"

FROM python:${PYTHON}-slim
LABEL org.opencontainers.image.title="coterie" \
      org.opencontainers.image.description="k-anonymity by clustering and local recoding" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/coterie /opt/coterie
# Kernels for any CPU of the architecture: those for the building machine's own would be compiled again elsewhere.
ENV PATH=/opt/coterie/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CACHE_DIR=/var/cache/coterie \
    NUMBA_CPU_NAME=generic \
    MPLCONFIGDIR=/var/cache/coterie/matplotlib
RUN useradd --uid 10001 --user-group --create-home coterie \
    && install -d -o coterie -g coterie /data /var/cache/coterie
USER 10001:10001
# Numba uses only folders that it can write to, and `docker run --user` may bring any user.
RUN coterie compile && mkdir -p "$MPLCONFIGDIR" && chmod -R a+rwX "$NUMBA_CACHE_DIR"
WORKDIR /data
ENTRYPOINT ["coterie"]
CMD ["--help"]
