# nginx with the built web app. Context: the repository's root.
#
# Bases are pinned by what they hold (docker/README.md says how to move them on).
# With SOURCE_DATE_EPOCH, the commit's time in seconds, files carry that time, so
# that the same commit gives the same files.
ARG GO=golang:1.25-bookworm@sha256:3b4a11519ad929d1e1d261a12cff056f0c85b735253d7d861346b9c6f8b36437
ARG NODE=node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c
ARG NGINX=nginx:1.30.4-alpine-slim@sha256:77da26c31397bf6694b4bf93275f5b40b0b120ba1b8f114264b603e592c561d6

FROM ${NODE} AS node

FROM ${GO} AS build
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV GOTOOLCHAIN=local
WORKDIR /src
# What seldom changes first, so that it is not fetched anew for each build.
COPY gemma4/cpu/kernel/wasm/package.json gemma4/cpu/kernel/wasm/package-lock.json gemma4/cpu/kernel/wasm/
COPY bindings/wasm/npm/package.json bindings/wasm/npm/package-lock.json bindings/wasm/npm/
COPY examples/web/package.json examples/web/package-lock.json examples/web/
RUN for folder in gemma4/cpu/kernel/wasm bindings/wasm/npm examples/web; do npm ci --prefix "$folder" --no-audit --no-fund || exit 1; done
COPY . .
RUN node bindings/wasm/npm/build.mjs && npm run --silent --prefix examples/web build && node docker/precompress.mjs examples/web/dist
ARG SOURCE_DATE_EPOCH
RUN [ -z "$SOURCE_DATE_EPOCH" ] || find examples/web/dist -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

FROM ${NGINX}
COPY docker/nginx /etc/nginx/gemwire
COPY --from=build /src/examples/web/dist /srv/gemwire/app
USER 101:101
EXPOSE 8080
STOPSIGNAL SIGQUIT
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s CMD ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8080/healthz"]
# Not the base's own entry, which wants to write its configuration.
ENTRYPOINT ["nginx", "-p", "/srv/gemwire", "-c", "/etc/nginx/gemwire/nginx.conf", "-g", "daemon off;"]
