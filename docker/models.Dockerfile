# The list of the models in Ollama's store: one static program and nothing else.
# Context: the repository's root.
ARG GO=golang:1.25-bookworm@sha256:3b4a11519ad929d1e1d261a12cff056f0c85b735253d7d861346b9c6f8b36437

FROM ${GO} AS build
ENV CGO_ENABLED=0 GOTOOLCHAIN=local
WORKDIR /src
COPY . .
RUN go build -trimpath -buildvcs=false -ldflags "-s -w -buildid=" -o /gemwire-models ./tools/cmd/gemwire-models

FROM scratch
COPY --from=build /gemwire-models /gemwire-models
USER 101:101
EXPOSE 8081
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s CMD ["/gemwire-models", "-check"]
ENTRYPOINT ["/gemwire-models"]
CMD ["-store", "/ollama"]
