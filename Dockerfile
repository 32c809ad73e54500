# Builds Truce and ships it with the libraries it links, nothing else.
#
#   docker build -t truce .
#   docker run --read-only --tmpfs /tmp -v truce-data:/var/lib/truce truce --no-cluster
#
# The root file system may be read-only: Truce writes to /var/lib/truce alone.

FROM debian:trixie-slim AS build
WORKDIR /src
COPY .tools .tools
RUN .tools/setup.sh build
COPY . .
RUN cmake --preset release \
    && cmake --build build/release --target truce \
    && strip build/release/truce \
    && .tools/runtime_packages.sh build/release/truce > build/runtime-packages

FROM debian:trixie-slim
COPY --from=build /src/build/runtime-packages /tmp/runtime-packages
# The packages are those of the libraries that the build stage linked; Debian keeps them secure.
# hadolint ignore=DL3008
RUN apt-get update \
    && xargs -a /tmp/runtime-packages apt-get install -y --no-install-recommends \
    && rm -rf /var/lib/apt/lists/* /tmp/runtime-packages \
    && install -d -o 65532 -g 65532 -m 0700 /var/lib/truce
COPY --from=build /src/build/release/truce /usr/local/bin/truce
ENV TRUCE_DATA_DIR=/var/lib/truce
VOLUME /var/lib/truce
USER 65532:65532
# Admission, API, metrics and probes.
EXPOSE 8443 8444 8080
ENTRYPOINT ["/usr/local/bin/truce", "serve"]
