# The two commands of the README are `make run` and `make test`; `make help` lists the rest.

MODULES  := quant gguf wgslkit gemma4 gemma4/nano multimodal finetune bindings/wasm bindings/c tools
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
test: test-nginx test-go test-c bench-smoke test-release test-browser test-docs ## Install what is missing, then lint and run every test: nginx, Go, C, GPU, counts of work, modules from outside, browser, docs

.PHONY: test-go
test-go: ## The part of make test that is Go's
	@scripts/setup.sh test
	@scripts/test.sh $(PACKAGES)

.PHONY: test-c
test-c: c-archive c-shared ## The part of make test that is the C library's; STEP= runs one (header, static, shared, python, swift, rounds)
	@scripts/setup.sh c
	@scripts/test-c.sh $(STEP)

C_LIBRARIES := c-archive c-shared c-ios c-macos c-xcframework c-android c-windows c-all

.PHONY: $(C_LIBRARIES)
c-archive: ## Build the C library for this machine, static, into dist/c
c-shared: ## The same, shared
c-ios: ## The same for iOS, device and simulator (needs Xcode)
c-macos: ## The same for macOS (needs Xcode)
c-xcframework: ## Both as dist/c/Gemwire.xcframework (needs Xcode)
c-android: ## The same for Android (needs ANDROID_NDK_HOME)
c-windows: ## The same for Windows (needs mingw-w64)
c-all: ## Each of these that this machine has the tools for
$(C_LIBRARIES):
	@scripts/setup.sh build
	@scripts/c-library.sh $(@:c-%=%)

.PHONY: test-browser
test-browser: ## The part of make test that needs a browser; STEP= runs one (bundle, types, lint, logic, kernels, package, app, nginx, dawn, bench)
	@scripts/setup.sh build
	@go build -o bin/gemwire ./tools/cmd/gemwire
	@scripts/test-browser.sh $(STEP)

.PHONY: test-release
test-release: ## The part of make test that drafts a release: an empty module fetches, builds and runs each of ours
	@scripts/setup.sh test
	@go build -o bin/gemwire ./tools/cmd/gemwire
	@./bin/gemwire release check

.PHONY: test-nginx
test-nginx: ## The part of make test that needs nginx: the configuration of the containers
	@scripts/test-nginx.sh

.PHONY: docs docs-serve
docs: ## Build the documentation's site into docs/dist
	@scripts/docs.sh build
docs-serve: ## Serve it while writing, at http://localhost:5173
	@scripts/docs.sh serve

.PHONY: test-docs
test-docs: ## The part of make test that is the documentation's: build it, run what it shows, follow its links
	@scripts/setup.sh build
	@go build -o bin/gemwire ./tools/cmd/gemwire
	@scripts/docs.sh test

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

.PHONY: docker-build docker-up docker-down docker-logs docker-ps
docker-build: ## Build the containers of compose.yaml: the web app behind nginx, the list of Ollama's models
docker-up: ## Start them, built where they are not, at http://localhost:8080
docker-down: ## Stop and remove them
docker-logs: ## Follow what they say
docker-ps: ## Say whether they are well
docker-build docker-up docker-down docker-logs docker-ps:
	@scripts/docker.sh $(@:docker-%=%) $(ARGS)

.PHONY: bench-smoke
bench-smoke: ## Count the work of each phase on a software rasterizer, and fail where it grew (ARGS=--write keeps the new figures)
	@scripts/setup.sh test
	@go build -o bin/gemwire ./tools/cmd/gemwire
	@GEMWIRE_WGPU=off GEMWIRE_ADAPTER=llvmpipe ./bin/gemwire bench smoke --against testdata/bench-smoke.json $(ARGS)

.PHONY: release
release: build ## Say what a release would do; with VERSION=v0.2.0, check, tag and build it, and push nothing (docs/releasing.md)
	@$(if $(VERSION),scripts/setup.sh release,./bin/gemwire release plan)
	@$(if $(VERSION),./bin/gemwire release tag $(VERSION) $(ARGS) && ./bin/gemwire release build $(VERSION))

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin dist
