# syntax=docker/dockerfile:1
# The gateway as a container: built in one stage, run in a small one. scripts/image builds and tries it.

FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libssl-dev libsrtp2-dev libopus-dev libspandsp-dev libspeexdsp-dev libsqlite3-dev zlib1g-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
RUN swift build -c release --product orbweaver --static-swift-stdlib \
    && mkdir /product \
    && cp .build/release/orbweaver /product/ \
    && cp -R .build/release/*.resources /product/

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libssl3 libsrtp2-1 libopus0 libspandsp2 libspeexdsp1 libsqlite3-0 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --shell /usr/sbin/nologin --home-dir /var/lib/orbweaver --create-home orbweaver
COPY --from=build /product/ /usr/local/bin/
USER 10001
WORKDIR /var/lib/orbweaver
VOLUME /var/lib/orbweaver
EXPOSE 8443/tcp 7000-7063/udp
HEALTHCHECK --interval=10s --timeout=4s --start-period=5s CMD ["orbweaver", "health"]
ENTRYPOINT ["orbweaver"]
CMD ["serve"]
