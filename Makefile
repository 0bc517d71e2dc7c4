# The two commands of the README are `make run` and `make test`; `make help` lists the rest.

MODULES  := quant gguf wgslkit gemma4 gemma4/nano multimodal finetune bindings/wasm tools
PACKAGES := $(addprefix ./,$(addsuffix /...,$(MODULES)))
PROMPT   ?= What is the capital of France?
MODEL    ?=
ARGS     ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## Answer PROMPT with MODEL (a path, a URL or a name in Ollama's store; the built-in model by default)
	@./bin/gemwire run $(ARGS) $(if $(MODEL),--model "$(MODEL)") "$(PROMPT)"

.PHONY: chat
chat: build ## Chat with MODEL
	@./bin/gemwire chat $(ARGS) $(MODEL)

.PHONY: build
build: ## Build bin/gemwire
	@scripts/setup.sh build
	@go build -o bin/gemwire ./tools/cmd/gemwire

.PHONY: test
test: test-go test-browser ## Install what is missing, then lint and run every test: Go, GPU, browser

.PHONY: test-go
test-go: ## The part of make test that is Go's
	@scripts/setup.sh test
	@scripts/test.sh $(PACKAGES)

.PHONY: test-browser
test-browser: ## The part of make test that needs a browser; STEP= runs one (bundle, types, lint, logic, kernels, package, app, bench)
	@scripts/setup.sh build
	@go build -o bin/gemwire ./tools/cmd/gemwire
	@scripts/test-browser.sh $(STEP)

.PHONY: web
web: build wasm ## Build all for the browser and serve the app at http://localhost:8080 (ARGS: flags of gemwire serve)
	@scripts/web.sh
	@./bin/gemwire serve $(ARGS)

.PHONY: wasm
wasm: ## Build the browser's bundle and npm package in bindings/wasm/npm/dist; fails over 4 MB gzipped
	@scripts/setup.sh build
	@scripts/wasm.sh

.PHONY: npm
npm: ## Build, check, test in Chromium and pack the npm package into dist/
	@scripts/setup.sh build
	@scripts/wasm.sh pack

.PHONY: lint
lint: ## gofmt, go vet, staticcheck
	@scripts/lint.sh $(PACKAGES)

.PHONY: fuzz
fuzz: ## Fuzz every fuzz target for FUZZTIME (30s) each
	@scripts/fuzz.sh $(MODULES)

.PHONY: bench
bench: build ## Measure prefill, decode and single kernels on this machine
	@./bin/gemwire bench $(MODEL)
	@./bin/gemwire bench ops

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin dist
