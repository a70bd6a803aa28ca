# The gateway as a container: built in one stage, run in a small one. scripts/image builds and tries it. With a folder
# in place of the stage "build" (--build-context build=FOLDER, as scripts/image --from-build gives it), the second stage
# is built and tested alone.
#
# Both stages stand on one base image, named by digest (bookworm-20260610-slim). `scripts/image --pin` puts today's
# digest behind its tag; `scripts/image --release` builds nothing without one. The compiler is swift.org's release of
# one exact version, and its signature is checked (scripts/toolchain). The first stage has not been built where this was
# written: swift.org was out of reach. Debian's packages are not pinned (DL3008): a stable release changes them only to
# fix them, and old versions leave the mirrors.
ARG DEBIAN_IMAGE=docker.io/library/debian:bookworm-slim@sha256:96e378d7e6531ac9a15ad505478fcc2e69f371b10f5cdf87857c4b8188404716

FROM ${DEBIAN_IMAGE} AS build
# The first lines are what fetches the compiler and what it needs, the last one what the gateway needs.
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates curl gpg \
      binutils gcc git libcurl4-openssl-dev libedit-dev libicu-dev libncurses-dev libpython3-dev libsqlite3-dev \
      libstdc++-12-dev libxml2-dev tzdata uuid-dev \
      libssl-dev libsrtp2-dev libmpg123-dev libopus-dev libspandsp-dev libspeexdsp-dev libwebsockets-dev zlib1g-dev \
      pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY scripts/toolchain scripts/
RUN scripts/toolchain 6.3.1 / && swift --version
COPY Package.swift Package.versions ./
COPY scripts/packages scripts/
COPY clients clients
COPY Sources Sources
# Only named by Package.swift; nothing of them is compiled.
COPY Benchmarks Benchmarks
COPY Tests Tests
# -s leaves the symbols out, two thirds of the program.
RUN scripts/packages \
    && swift build -c release --product orbweaver --static-swift-stdlib -Xlinker -s \
        --only-use-versions-from-resolved-file \
    && mkdir /product \
    && cp .build/release/orbweaver /product/ \
    && cp -R .build/release/*.resources /product/

FROM ${DEBIAN_IMAGE}
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates libcurl4 libssl3 libsrtp2-1 libmpg123-0 libopus0 libspandsp2 libspeexdsp1 libsqlite3-0 \
        libwebsockets17 zlib1g libstdc++6 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --shell /usr/sbin/nologin --home-dir /var/lib/orbweaver --create-home orbweaver
COPY --from=build /product/ /usr/local/bin/
USER 10001
WORKDIR /var/lib/orbweaver
VOLUME /var/lib/orbweaver
# TCP beside UDP is for media.tcp_port: 7000, of which each worker takes the next as well.
EXPOSE 8443/tcp 7000-7063/udp 7000-7063/tcp
HEALTHCHECK --interval=10s --timeout=4s --start-period=10m CMD ["orbweaver", "health"]
ENTRYPOINT ["orbweaver"]
CMD ["serve"]
