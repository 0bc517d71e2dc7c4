# The two commands of the README are `make run` and `make test`; `make help` lists the rest.

MODULES  := quant gguf wgslkit gemma4 gemma4/nano multimodal finetune bindings/wasm bindings/c tools tools/lab
PACKAGES := $(addprefix ./,$(addsuffix /...,$(MODULES)))
PROMPT   ?= What is the capital of France?
MODEL    ?=
ARGS     ?=
# Without what debuggers want: traces of panics name functions and lines all the same.
GO_BUILD := go build -trimpath -ldflags="-s -w"

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
	@$(GO_BUILD) -o bin/gemwire ./tools/cmd/gemwire

.PHONY: build-app
build-app: ## Build bin/gemwire with the web app inside, as released: it serves the app without a clone
	@scripts/setup.sh build
	@scripts/webapp.sh

.PHONY: lab
lab: ## Build bin/lab, the command for developers: comparisons, counts of work, releases (tools/lab)
	@scripts/setup.sh build
	@$(GO_BUILD) -o bin/lab ./tools/lab/cmd/lab

.PHONY: test
test: ## Install what is missing, then lint and test in minutes: Go, GPU kernels and models, the C library, the bundle, the app in Chromium
	@scripts/test.sh quick

.PHONY: test-all
test-all: ## All of make test and everything else: all tunings and libraries, the race detector, fuzzing, browser, nginx, docs
	@scripts/test.sh all

.PHONY: test-go
test-go: ## Every Go test, with all tunings, limits and libraries
	@scripts/setup.sh test
	@GEMWIRE_TEST_ALL=1 scripts/test-go.sh $(PACKAGES)

.PHONY: test-race
test-race: ## The Go tests under the race detector
	@scripts/setup.sh test
	@scripts/test-go.sh -race $(PACKAGES)

.PHONY: test-c
test-c: c-archive c-shared ## The C library's tests; STEP= runs one (header, static, gpu, shared, python, swift, rounds)
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

.PHONY: install
install: c-archive c-shared ## Install the C library, its header and a pkg-config file below PREFIX (/usr/local); DESTDIR goes before it
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/c-library.sh install

BROWSER_STEPS := bundle types app-lint logic kernels package app app-nginx dawn bench-page

.PHONY: test-browser
test-browser: ## What needs Node or a browser; STEP= runs some (bundle, types, app-lint, logic, kernels, package, app, app-nginx, dawn, bench-page)
	@GEMWIRE_TEST_AGAIN=1 GEMWIRE_TEST_JOBS=1 scripts/test.sh setup web-tools commands other-libraries $(or $(STEP),$(BROWSER_STEPS))

.PHONY: test-release
test-release: ## Draft a release: an empty module fetches, builds and runs each of ours
	@scripts/setup.sh test
	@$(GO_BUILD) -o bin/lab ./tools/lab/cmd/lab
	@./bin/lab release check

.PHONY: test-nginx
test-nginx: ## Test the configuration of the containers with a real nginx
	@scripts/test-nginx.sh

.PHONY: docs docs-serve
docs: ## Build the documentation's site into docs/dist
	@scripts/docs.sh build
docs-serve: ## Serve it while writing, at http://localhost:5173
	@scripts/docs.sh serve

.PHONY: test-docs
test-docs: ## Test the documentation: build it, run what it shows, follow its links
	@scripts/setup.sh build
	@$(GO_BUILD) -o bin/gemwire ./tools/cmd/gemwire
	@scripts/docs.sh test

.PHONY: web
web: build wasm ## Build all for the browser and serve the app at http://localhost:8080 (ARGS: flags of gemwire serve)
	@scripts/web.sh
	@./bin/gemwire serve $(ARGS)

.PHONY: screenshots
screenshots: wasm ## Take the pictures in docs/img/web anew: the app in Chromium, with the built-in model
	@scripts/setup.sh web
	@scripts/web.sh
	@node examples/web/e2e/screenshots/run.mjs docs/img/web

.PHONY: first-load
first-load: build wasm ## Measure what a first visit of the app costs over 20 Mbit/s, and the second (ARGS="--model FILE --mbit 20")
	@scripts/setup.sh web
	@scripts/web.sh
	@node examples/web/e2e/firstLoad.mjs $(ARGS)

.PHONY: wasm
wasm: ## Build the browser's bundle and npm package in bindings/wasm/npm/dist; fails over 4 MB gzipped
	@scripts/setup.sh build
	@scripts/wasm.sh

.PHONY: npm
npm: ## Build and pack the npm package into dist/
	@scripts/setup.sh build
	@scripts/wasm.sh pack

.PHONY: test-npm
test-npm: ## Test the npm package: types, what runs in Node, and Chromium; TESTS= runs some, such as "completions"
	@scripts/setup.sh build
	@scripts/setup.sh web
	@scripts/wasm.sh
	@npm run check --silent --prefix bindings/wasm/npm
	@node bindings/wasm/npm/test/run.mjs $(TESTS)

.PHONY: lint
lint: ## gofmt, go vet, staticcheck
	@scripts/lint.sh $(PACKAGES)

.PHONY: fuzz
fuzz: ## Fuzz every fuzz target for FUZZTIME (30s) each
	@scripts/fuzz.sh

.PHONY: mutate
mutate: ## Say which small changes of the code no test notices, in PKG (as quant or gemma4/sample) or what differs from main
	@scripts/mutate.sh $(PKG)

.PHONY: bench
bench: build lab ## Measure prefill, decode and single kernels on this machine
	@./bin/gemwire bench $(MODEL)
	@./bin/lab bench ops

.PHONY: docker-build docker-up docker-down docker-logs docker-ps
docker-build: ## Build the containers of compose.yaml: the web app behind nginx, the list of Ollama's models
docker-up: ## Start them, built where they are not, at http://localhost:8080
docker-down: ## Stop and remove them
docker-logs: ## Follow what they say
docker-ps: ## Say whether they are well
docker-build docker-up docker-down docker-logs docker-ps:
	@scripts/docker.sh $(@:docker-%=%) $(ARGS)

.PHONY: maskbench
maskbench: lab ## Hold JSON schemas to MaskBench and the JSON Schema Test Suite, fetched unless DIR and SUITE name copies
	@DIR="$(DIR)" SUITE="$(SUITE)" scripts/maskbench.sh $(ARGS)

.PHONY: bench-smoke
bench-smoke: ## Count the work of each phase on a software rasterizer, and fail where it grew (ARGS=--write keeps the new figures)
	@scripts/setup.sh test
	@$(GO_BUILD) -o bin/lab ./tools/lab/cmd/lab
	@GEMWIRE_WGPU=off GEMWIRE_ADAPTER=llvmpipe ./bin/lab bench smoke --against testdata/bench-smoke.json $(ARGS)

.PHONY: release
release: lab ## Say what a release would do; with VERSION=v0.2.0, check, tag and build it, and push nothing (docs/releasing.md)
	@$(if $(VERSION),scripts/setup.sh release,./bin/lab release plan)
	@$(if $(VERSION),./bin/lab release tag $(VERSION) $(ARGS) && ./bin/lab release build $(VERSION))

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin dist
