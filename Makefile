# The tiers of tests, and what a release needs. Every tier fails, and never
# skips, when something it needs is missing.

SHELL := /bin/sh
GO ?= go
HOLODECK_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/holodeck
TOOLS := $(HOLODECK_CACHE)/tools
LDFLAGS := -s -w $(if $(VERSION),-X main.version=$(VERSION))
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
SIZE_LIMIT_MB := 90
FUZZTIME ?= 20s

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
GOSEC := github.com/securego/gosec/v2/cmd/gosec@v2.30.0

.DEFAULT_GOAL := build

.PHONY: build
build: ## the program, for this machine
	CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o holodeck ./cmd/holodeck

.PHONY: test
test: ## Go and a writable folder, nothing else
	CGO_ENABLED=0 $(GO) test ./...

.PHONY: test-noadk
test-noadk: ## the variant without Google's ADK builds, and says how to get it
	CGO_ENABLED=0 $(GO) vet -tags noadk ./...
	CGO_ENABLED=0 $(GO) build -tags noadk -o /dev/null ./cmd/holodeck
	@if CGO_ENABLED=0 $(GO) list -deps -tags noadk ./cmd/holodeck | grep '^google.golang.org/adk'; then \
	  echo "with the tag noadk the program has ADK in it"; exit 1; fi
	CGO_ENABLED=0 $(GO) test -tags noadk -run TestABuildWithoutADK ./internal/backend

.PHONY: test-race
test-race: ## the same under the race detector; needs a C compiler
	CGO_ENABLED=1 $(GO) test -race ./...

.PHONY: test-peers
test-peers: peer-kill peer-sdks peer-ollama peer-bm25 peer-python peer-postgres peer-textmetrics peer-html peer-tmux peer-mcp peer-claude ## against independent implementations from pinned packages

.PHONY: peer-sdks
peer-sdks: ## the fake model server, understood by the providers' own modules
	./bench/peers/sdks.sh '$(HOLODECK_CACHE)'

.PHONY: peer-ollama
peer-ollama: ## our clients against a real Ollama, which speaks OpenAI's and Anthropic's APIs, too
	./bench/peers/ollama.sh '$(HOLODECK_CACHE)'

.PHONY: peer-python
peer-python: ## functions, graders and the pages that show them, with a real Python interpreter
	./bench/peers/python.sh '$(HOLODECK_CACHE)'

.PHONY: peer-bm25
peer-bm25: ## the recorded BM25 scores, computed again by the package they came from
	./bench/peers/bm25.sh '$(HOLODECK_CACHE)'

.PHONY: peer-postgres
peer-postgres: ## the Postgres store against a real server with pgvector; Debian and root
	./bench/peers/postgres.sh '$(HOLODECK_CACHE)'

.PHONY: peer-kill
peer-kill: build ## a thousand runs, each killed at a random moment, lose no result
	$(GO) run ./bench/peers/kill ./holodeck

# The recorded text scores, computed again by the packages they came from.
.PHONY: peer-textmetrics
peer-textmetrics:
	./bench/peers/textmetrics.sh '$(HOLODECK_CACHE)'

.PHONY: peer-tmux
peer-tmux: ## a conversation in a real terminal, of tmux; pictures in the cache folder
	./bench/peers/tmux.sh '$(HOLODECK_CACHE)'

.PHONY: peer-html
peer-html: ## the HTML report, used in headless Chromium; screenshots in the cache folder
	./bench/peers/html.sh '$(HOLODECK_CACHE)'

.PHONY: peer-mcp
peer-mcp: ## our MCP client against npm's servers and the official conformance suites
	./bench/peers/mcp.sh '$(HOLODECK_CACHE)'

.PHONY: peer-claude
peer-claude: ## agents on the real Claude Code CLI, which comes from npm
	./bench/peers/claude.sh '$(HOLODECK_CACHE)'

.PHONY: lint
lint: $(TOOLS)/staticcheck-v0.8.2 lint-format lint-vet cross-vet lint-pins test-noadk ## form, vet, staticcheck, imports, pins
	$(TOOLS)/staticcheck-v0.8.2 ./...
	$(GO) test ./internal/house

.PHONY: lint-format
lint-format:
	@files=$$(gofmt -l cmd internal acceptance bench); \
	if [ -n "$$files" ]; then echo "gofmt would change:"; echo "$$files"; exit 1; fi
	$(GO) mod verify
	$(GO) mod tidy -diff

.PHONY: lint-vet
lint-vet:
	$(GO) vet ./...

.PHONY: cross-vet
cross-vet:
	GOOS=windows $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...

# The runtime that needs OpenTelemetry's log API needs exactly this version of
# it; an upgrade breaks the build in a place far from its cause.
.PHONY: lint-pins
lint-pins:
	@if grep -q 'go.opentelemetry.io/otel/log ' go.mod; then \
	  v=$$($(GO) list -m -f '{{.Version}}' go.opentelemetry.io/otel/log); \
	  if [ "$$v" != v0.20.0 ]; then echo "go.opentelemetry.io/otel/log is $$v, must be v0.20.0"; exit 1; fi; fi

# Not held against the code: narrowing of numbers that files bound (G115),
# reading and writing the files a user names (G304, G703) with the modes that
# files for others to read have (G301, G302, G306; private ones are tested), and
# chance for jitter and sampling (G404).
GOSEC_EXCLUDES := -exclude=G115,G301,G302,G304,G306,G404,G703 \
	-exclude-dir=bench -exclude-dir=testdata -exclude-dir=llmtest -exclude-dir=mcptest

.PHONY: security
security: $(TOOLS)/govulncheck-v1.9.0 $(TOOLS)/gosec-v2.30.0 ## known vulnerabilities, risky code, secrets in the tree
	@out=$$($(TOOLS)/govulncheck-v1.9.0 ./... 2>&1); code=$$?; echo "$$out"; \
	if [ $$code -ne 0 ]; then \
	  if echo "$$out" | grep -q 'fetching vulnerabilities'; then \
	    echo "govulncheck: its database is out of reach; known vulnerabilities were NOT checked"; \
	  else exit $$code; fi; fi
	$(TOOLS)/gosec-v2.30.0 -quiet -severity medium -confidence medium $(GOSEC_EXCLUDES) ./...
	$(GO) test -count=1 -run TestNoSecretsInTheTree ./internal/house

.PHONY: cross
cross: ## build for every platform
	@for p in $(PLATFORMS); do \
	  echo "build $$p"; \
	  CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -ldflags '$(LDFLAGS)' -o /dev/null ./cmd/holodeck || exit 1; \
	done

.PHONY: size
size: build ## the stripped binary keeps to its budget
	@bytes=$$(wc -c < holodeck); mb=$$((bytes / 1000000)); \
	echo "holodeck: $$mb MB (limit $(SIZE_LIMIT_MB))"; [ $$mb -le $(SIZE_LIMIT_MB) ]

.PHONY: corpus
corpus: ## validate every agent under DIR with the variables of its .env.example
	@if [ -z "$(DIR)" ]; then echo "usage: make corpus DIR=folder-of-agents"; exit 2; fi
	$(GO) run ./bench/corpus '$(DIR)'

.PHONY: bench
bench: ## the benchmarks whose figures stand in docs/performance.md
	CGO_ENABLED=0 $(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: bench-promptfoo
bench-promptfoo: ## the same cases with holodeck and with promptfoo (npm, pinned), and the ratios
	./bench/promptfoo/run.sh '$(HOLODECK_CACHE)'

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME
	@$(GO) list -f '{{.Dir}} {{.ImportPath}}' ./... | while read -r dir pkg; do \
	  for target in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go 2>/dev/null | cut -c6-); do \
	    echo "fuzz $$pkg $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$pkg" || exit 1; \
	  done; done

.PHONY: docs
docs: ## write the pages that are generated from the types
	$(GO) test ./internal/config -run TestKeysPage -update

$(TOOLS)/staticcheck-v0.8.2:
	GOBIN='$(TOOLS)' $(GO) install $(STATICCHECK) && mv '$(TOOLS)/staticcheck' '$@'

$(TOOLS)/govulncheck-v1.9.0:
	GOBIN='$(TOOLS)' $(GO) install $(GOVULNCHECK) && mv '$(TOOLS)/govulncheck' '$@'

$(TOOLS)/gosec-v2.30.0:
	GOBIN='$(TOOLS)' $(GO) install $(GOSEC) && mv '$(TOOLS)/gosec' '$@'

.PHONY: help
help:
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort
