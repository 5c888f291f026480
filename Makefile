# Two commands do everything: `make book` and `make test`. The rest are shortcuts.
# A distribution compiles its Python with a profile of what programs do; what a version manager compiles in a hurry is not, and a fifth slower for
# everything here. So the machine's own is taken if it is new enough and can make environments; else whatever `python3` is.
PYTHON ?= $(shell /usr/bin/python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo /usr/bin/python3 || echo python3)
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
HTML   := _build/html/index.html

# Some hundred short processes load the package in a test run, and compiled it loads in half the time. Some machines (containers, often) ask
# Python to keep nothing compiled; here it is kept in __pycache__, which git ignores and `make clean` takes away.
unexport PYTHONDONTWRITEBYTECODE

# CI sets it: a test that fails is tried once more there, and named at the end. Everywhere else a test that fails has failed.
TRIES  ?=

IN_A_TAB := tests/tab/test_rooms.py tests/tab/test_pages.py

.PHONY: help book test serve lint labs timeline tables cluster live bench mutants fuzz fuzz-http chaos churn conformance tab clients slides pdf epub linkcheck ja catalogues behind clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (try: make PYTHON=python3.12 $(MAKECMDGOALS))"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

book: $(READY) ## run every chapter, build the HTML, check it
	$(BIN)/python book/build.py
	$(BIN)/pytest $(TRIES) tests/book/test_site.py tests/book/test_live_cells.py tests/book/test_playground_page.py
	@echo "the book: file://$(CURDIR)/$(HTML)"

# No test trusts the authorities that this machine trusts: several hundred processes need not read them, a tenth of a second each.
TRUST_NOBODY := SSL_CERT_FILE=/dev/null

# On a fresh checkout one process compiles the tests and reads what Hypothesis takes from them, before there are workers: four would do it
# four times, fourteen seconds each.
MOST_TESTS = $(TRUST_NOBODY) $(BIN)/pytest -m "not alone" --ignore tests/clients $(patsubst %,--ignore tests/book/test_%.py,site live_cells playground_page pdf_file epub_file) $(IN_A_TAB:%=--ignore %)

test: $(READY) ## every test this machine can run; says what it could not
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	(nice -n 19 $(BIN)/lint-imports && nice -n 19 $(BIN)/mypy) & types=$$!; [ -d tests/api/__pycache__ ] || $(MOST_TESTS) --collect-only >/dev/null; $(MOST_TESTS) $(TRIES) -n auto --maxprocesses 6 --dist loadgroup; tests=$$?; wait $$types && exit $$tests  # who reads whom and which types: in the time that nobody else takes; the site: `make book`; the files: `make pdf`, `make epub`; other people's programs: `make clients`; in WebAssembly: `make tab`
	$(BIN)/pytest $(TRIES) -n0 -m alone tests/live

lint: $(READY) ## only the static checks
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

serve: book ## read the book at http://127.0.0.1:8000
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html 8000

labs: $(READY) ## run the labs again and keep their new outputs
	-$(BIN)/pytest labs --nb-force-regen
	$(BIN)/pytest labs

timeline: $(READY) ## draw the README's picture anew, from a real trace
	$(BIN)/lifecycle trace --png book/_static/journey-timeline.png

tables: $(READY) ## make the data files in src again; KUBERNETES=a checkout of kubernetes/kubernetes at the pinned version, else only those from recordings
	$(BIN)/python -m generators all $(if $(KUBERNETES),--kubernetes $(KUBERNETES))

cluster: $(READY) ## a real kind cluster called `lifecycle`
	labs/kind/create

live: $(READY) ## the labs against the kind cluster
	LIFECYCLE_CLUSTER=kind-lifecycle $(BIN)/pytest tests/live

bench: $(READY) ## measure: results as JSON and a picture in benchmarks/results
	$(BIN)/python -m benchmarks

mutants: $(READY) ## break the code in places: which share do the tests notice? ROOMS="scheduler quoted" COUNT=20 SEED=1, NEAR=30 if a room is large
	$(BIN)/python -m mutants $(ROOMS) --count $(or $(COUNT),20) --seed $(or $(SEED),1) $(if $(NEAR),--near $(NEAR))

fuzz: $(READY) ## random requests to a real kube-apiserver (KUBE_BIN) and to ours, answers compared: N=1000 SEED=1 KEEP=1
	$(BIN)/python -m tests.differential --n $(or $(N),1000) --seed $(or $(SEED),1) $(if $(KEEP),--keep) $(if $(FIELDS),--fields '$(FIELDS)')

fuzz-http: $(READY) ## odd requests to our API server on a socket; what it answers with a 5xx is asked of a real one (KUBE_BIN): N=100000 SEED=1 SECONDS=3600 KEEP=1
	$(BIN)/python -m tests.fuzz_http --n $(or $(N),100000) --seed $(or $(SEED),1) --seconds $(or $(SECONDS),3600) $(if $(KEEP),--keep)

chaos: $(READY) ## a whole cluster on virtual time with faults drawn from seeds; what fails is shrunk: N=1000 SEED=1 SECONDS=3600 KEEP="a0 f1"; then the storage under faults, is it linearizable? HISTORIES=600 seconds
	$(BIN)/python -m tests.chaos --n $(or $(N),1000) --seed $(or $(SEED),1) --seconds $(or $(SECONDS),3600) $(if $(KEEP),--keep $(KEEP))
	$(if $(KEEP),,$(BIN)/python -m tests.linearizability --seed $(or $(SEED),1) --seconds $(or $(HISTORIES),600))

churn: $(READY) ## hours of comings and goings on virtual time: memory, descriptors and tasks at the end of each: HOURS=24 SEED=1 SECONDS=3600; REAL=30: minutes on the machine's clock and 20 nodes instead
	$(BIN)/python -m $(if $(REAL),tests.chaos.churn_in_real_time --minutes $(REAL),tests.chaos.churn --hours $(or $(HOURS),24) --seconds $(or $(SECONDS),3600)) --seed $(or $(SEED),1)

conformance: $(READY) ## Kubernetes' own conformance tests against a cluster of ours (root, Linux, KUBE_BIN): FOCUS="sig-apps" RUNTIME=sandbox ALONE=1 TESTS=node|network
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m conformance --runtime $(or $(RUNTIME),sandbox) $(if $(ALONE),--alone) $(if $(TESTS),--tests $(TESTS)) $(if $(FOCUS),--focus '$(FOCUS)$(if $(TESTS),,.*\[Conformance\])')

tab: $(READY) ## the rooms' tests, and every cell of every page, run by Python in WebAssembly
	$(BIN)/pytest $(TRIES) -n auto --maxprocesses 2 --dist loadgroup $(IN_A_TAB)

clients: $(READY) ## programs and tests that others have written, fetched at pinned versions, against our cluster: kr8s, kopf, helm, lightkube, kubernetes and kubernetes_asyncio, client-node
	$(BIN)/pytest $(TRIES) -n0 tests/clients

slides: $(READY) ## the teacher's slides again, from the built site (`make book` makes them too)
	PYTHONPATH=book/_ext $(BIN)/python -m slides

pdf: $(READY) ## the built site as one PDF, checked (run `make book` first)
	PYTHONPATH=book/_ext $(BIN)/python book/to_pdf.py
	$(BIN)/pytest tests/book/test_pdf_file.py

epub: $(READY) ## the book for an e-reader, checked (quick after `make book`, whose results it takes)
	rm -rf _build/epub  # whatever lies there goes into the archive
	$(BIN)/jupyter-book build . --builder custom --custom-builder epub
	$(BIN)/pytest tests/book/test_epub_file.py
	@echo "the book: $(CURDIR)/_build/epub/what-happens-when-kubernetes.epub"

linkcheck: $(READY) ## follow the links that leave the book
	$(BIN)/jupyter-book build . --builder linkcheck

ja: $(READY) ## the book in Japanese, as far as it is translated, in _build/ja/_build/html
	mkdir -p _build/$@
	$(BIN)/python -m translations config $@ > _build/$@/_config.yml
	$(BIN)/python book/build.py --config _build/$@/_config.yml --output _build/$@/_build

catalogues: $(READY) ## bring the translations' catalogues level with the book: LANGUAGE=ja PAGES="book/glossary" begins one
	$(BIN)/python -m translations update $(or $(LANGUAGE),ja) $(PAGES)

behind: $(READY) ## list the paragraphs whose translation has fallen behind: LANGUAGE=ja
	$(BIN)/python -m translations behind $(or $(LANGUAGE),ja)

clean: ## forget everything built
	rm -rf _build .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
