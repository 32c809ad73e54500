# Entry points for people. Each target is a script of .tools that can be run alone.

.DEFAULT_GOAL := help
.PHONY: help run build check test bench e2e lint format clean playground simulate power-cuts mutants release release-test audit publish

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

run:  ## Set up, build, start Truce and show it refuse a duplicate (RUN_ONCE=1: end after that)
	@.tools/setup.sh build
	@.tools/test.sh build
	@exec .tools/run.sh

build:  ## Build build/release/truce
	@.tools/setup.sh build
	@.tools/test.sh build

check:  ## Fast checks: format, style, headers, unit, contract and golden tests, clang-tidy of changes
	@ROTATE=all .tools/test.sh setup release format style headers unit tidy

test:  ## Everything: check, a sanitizer (ROTATE=all: both), model, fault, fuzz corpus, system and end-to-end tests
	@.tools/test.sh setup release format style headers unit tidy model mutants sanitizer fuzz system e2e

simulate:  ## Random histories: SEEDS=20000 of cascades, then of a faulty cluster for SECONDS=3600; for every night
	@.tools/setup.sh build
	@.tools/test.sh release
	@TRUCE_CASCADE_SEEDS=$(or $(SEEDS),20000) build/release/tests/model/cascade_world_test
	@TRUCE_SIMULATION_SECONDS=$(or $(SECONDS),3600) TRUCE_SIMULATION_FIRST=$$(date +%s) \
	  build/release/tests/model/watch_simulation_test

power-cuts:  ## Random power cuts and failing syncs under the store, for SECONDS=3600
	@.tools/setup.sh build
	@.tools/test.sh release
	@TRUCE_POWER_CUT_SECONDS=$(or $(SECONDS),3600) build/release/tests/fault/power_cut_test \
	  --gtest_filter=PowerCutByTheClock.*

mutants:  ## Take each rule of the core out of a copy: its named history must fail
	@.tools/setup.sh build
	@.tools/mutants.py

bench:  ## Benchmarks as ratios to nginx; writes build/bench.json
	@.tools/setup.sh bench
	@.tools/test.sh release bench

e2e:  ## End-to-end tests on a real kube-apiserver and etcd
	@.tools/test.sh setup build e2e

lint:  ## clang-tidy over all files, and a build with clang and its thread-safety analysis
	@TRUCE_STAGE_SECONDS_MAX=7200 .tools/test.sh setup format style clang lint

format:  ## Format all C++ files
	@.tools/setup.sh test
	@.tools/test.sh reformat

playground:  ## A real API server with Truce in front, to try kubectl against
	@.tools/setup.sh test
	@.tools/test.sh build
	@PYTHONPATH=tests exec build/venv/bin/python tests/e2e/playground.py

release:  ## Everything that people install, into build/dist (HOME_URL=https://… IMAGE=REGISTRY/REPOSITORY SIGNING_KEY=FILE ARM64=yes)
	@.tools/setup.sh release
	@ARM64='$(ARM64)' release/make.sh $(if $(HOME_URL),--home-url '$(HOME_URL)') $(if $(IMAGE),--image '$(IMAGE)') $(if $(SIGNING_KEY),--signing-key '$(SIGNING_KEY)')

release-test:  ## What build/dist holds, tried in fresh Debians; two whole builds compared; upgrade from the last release
	@.tools/setup.sh test
	@.tools/setup.sh release
	@.tools/setup.sh release-test
	@.tools/peers.sh cosign
	@TRUCE_STAGE_SECONDS_MAX=7200 .tools/test.sh build published

audit:  ## Match the SBOM of build/dist (or SBOM=FILE) against .tools/advisories.tsv
	@release/audit.py '$(or $(SBOM),$(wildcard build/dist/*.cdx.json),build/dist/truce.cdx.json)'

publish:  ## Publish build/dist as the release of HEAD's tag, from a pipeline (IMAGE=REGISTRY/REPOSITORY)
	@.tools/setup.sh publish
	@release/publish.sh '$(IMAGE)'

clean:  ## Remove what was built; the test peers, downloaded sources and the Python environment stay
	rm -rf build/release build/dev build/tsan build/clang build/fuzz build/coverage build/bench build/results
