#!/usr/bin/env bash
# Builds and tests in stages, shows how long each took, and ends with "N passed, N failed".
#
#   .tools/test.sh STAGE...
#
# Stages: setup build release format style headers unit tidy model mutants asan tsan fuzz system e2e bench published
# clang lint reformat; what each does stands at its function stage_<name>. Every stage runs even
# when one before it failed, except that nothing goes on after a failed setup or build. Something
# missing is a failure, never a skip: a skipped test counts as failed.
# The hash of HEAD's tree picks what slow parts run, ROTATE=all runs all: a share of the tests marked as
# rotating (asan, tsan, system, e2e), of the headers and of the mutants, 24 changed sources of tidy, and
# of stage sanitizer one of asan and tsan on one of two halves of the tests.
#
# Each stage's whole output is in build/results/<stage>.log.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly ROOT RESULTS="$ROOT/build/results" VENV="$ROOT/build/venv"
readonly STAGE_SECONDS_MAX="${TRUCE_STAGE_SECONDS_MAX:-2400}"
JOBS="${TRUCE_JOBS:-$(nproc)}"
readonly JOBS
cd "$ROOT"
# Which share of the slow tests runs (tests/conftest.py): one commit always runs the same.
TREE=$((16#$(git rev-parse 'HEAD^{tree}' | cut -c1-6)))
ROTATE="${ROTATE:-$((TREE % 4))}"
export ROTATE
readonly TREE SHARES=4 TIDY_SOURCES_MAX=24
export HALF="${HALF:-}"  # of the tests with a sanitizer: 0, 1, or all
# Which random histories of cascades run: 300 of the 20,000 that `make simulate` runs.
TRUCE_CASCADE_FIRST="${TRUCE_CASCADE_FIRST:-$((TREE % 66 * 300 + 1))}"
export TRUCE_CASCADE_FIRST

# Go as a manual installation leaves it, and as the setup does.
export PATH="$VENV/bin:$PATH:/usr/local/go/bin"
export TRUCE_BINARY="${TRUCE_BINARY:-$ROOT/build/release/truce}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
export ASAN_OPTIONS="detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:suppressions='$ROOT/tests/tsan-suppressions.txt'"

# The first of the given programs that exists: clang's have their version in their name.
tool() {
  local name
  for name in "$@"; do
    if command -v "$name" >/dev/null; then echo "$name"; return; fi
  done
  echo "missing: $1 (run .tools/setup.sh test)" >&2
  return 1
}

# Files of the repository, committed or not, that are not ignored and exist.
files() { git ls-files -co --exclude-standard -- "$@" | while read -r f; do [ ! -f "$f" ] || echo "$f"; done; }

configure() { cmake --preset "$1" >"build/results/configure-$1.log" || { cat "build/results/configure-$1.log"; return 1; }; }

# build PRESET [TARGET...]
build() {
  local preset="$1"; shift
  configure "$preset"
  cmake --build "build/$preset" -j "$JOBS" ${1:+--target "$@"}
}

# run_ctest PRESET LABELS: the cases of these labels, one line for every 50 that pass.
run_ctest() {
  ctest --test-dir "build/$1" -L "^($2)\$" -j "$JOBS" --output-on-failure --no-tests=error \
    --output-junit "$RESULTS/$STAGE.xml" |
    awk '/^ *[0-9]+\/[0-9]+ Test .* Passed /{if (++n % 50) next} /^ +Start +[0-9]+:/{next} {print; fflush()}'
}

# run_together PRESET LABELS: the same where a process costs more than most cases (sanitizers).
run_together() { .tools/run_cases.py "build/$1" "$2" "$RESULTS/$STAGE.xml" "$JOBS"; }

# run_pytest FOLDER [ARGUMENT...]: the tests of a file stay together and in their order.
run_pytest() {
  echo "rotating tests: share $ROTATE of 0 to 3, by HEAD's tree; ROTATE=all runs all of them"
  (cd tests && "$VENV/bin/python" -m pytest "$@" --junitxml "$RESULTS/$STAGE.xml" --durations 5)
}
# Twice as many as there are processors: these tests wait for servers, clusters and clocks half of their time.
# The files come in the order in which tests/conftest.py puts them: what takes longest first.
run_pytest_together() { run_pytest "$@" -n "$((JOBS * 5 / 2))" --dist loadfile --no-loadscope-reorder; }

# of_share: of the lines of its input every fourth, or all.
of_share() { if [ "$ROTATE" = all ]; then cat; else awk "NR % $SHARES == $ROTATE"; fi; }

clang_tidy() {
  local tidy
  tidy="$(tool clang-tidy-14 clang-tidy-19 clang-tidy-18 clang-tidy)"
  configure clang
  xargs -r -P "$JOBS" -n 1 "$tidy" -p build/clang --quiet
}

# The C++ sources that differ from where this branch left the main one; on the main branch itself,
# from the commit before. A changed header counts as its source.
changed_sources() {
  local base file
  base="$(git merge-base HEAD "${TRUCE_MAIN:-origin/main}" 2>/dev/null || git rev-parse HEAD)"
  if [ "$base" = "$(git rev-parse HEAD)" ] && git rev-parse -q --verify HEAD~1 >/dev/null; then
    base=HEAD~1
  fi
  { git diff --name-only "$base" -- '*.cc' '*.h'; git ls-files -o --exclude-standard -- '*.cc' '*.h'; } |
    while read -r file; do
      file="${file%.h}"
      file="${file%.cc}.cc"
      [ ! -f "$file" ] || echo "$file"
    done | sort -u
}

stage_setup() { .tools/setup.sh test; }
stage_build() { build release truce; }
stage_release() { build release; }
# Each header of a share of the libraries compiles alone.
stage_headers() {
  local targets
  configure release
  mapfile -t targets < <(ninja -C build/release -t targets all |
    sed -n 's/^\(truce_[a-z_]*_verify_interface_header_sets\): .*/\1/p' | sort | of_share)
  echo "headers of ${#targets[@]} libraries, share $ROTATE of 0 to $((SHARES - 1)), by HEAD's tree"
  cmake --build build/release -j "$JOBS" --target "${targets[@]}"
}
stage_format() { files '*.cc' '*.h' | xargs -r -P "$JOBS" -n 40 "$VENV/bin/clang-format" --dry-run -Werror; }
stage_reformat() { files '*.cc' '*.h' | xargs -r "$VENV/bin/clang-format" -i; }
stage_style() {
  python3 .tools/style.py
  python3 .tools/structure.py
  python3 .tools/rules.py
  python3 .tools/documents.py
  python3 .tools/mutants.py --stale
  files '*.sh' .ci/run | xargs "$VENV/bin/shellcheck" --severity=warning
}
stage_unit() { run_ctest release 'unit|contract|golden'; }
stage_model() {
  echo "histories of cascades: 300 seeds from $TRUCE_CASCADE_FIRST, by HEAD's tree"
  run_ctest release 'model|fault'
}
stage_mutants() { .tools/mutants.py --share "$ROTATE"; }
stage_fuzz() { run_ctest release fuzz; }
# A large merge changes more than CI has time for; the hash of HEAD's tree picks what it looks at.
stage_tidy() {
  local sources
  mapfile -t sources < <(changed_sources)
  if [ "$ROTATE" != all ] && [ ${#sources[@]} -gt $TIDY_SOURCES_MAX ]; then
    echo "$TIDY_SOURCES_MAX of ${#sources[@]} changed sources, by HEAD's tree; ROTATE=all looks at all"
    mapfile -t sources < <(printf '%s\n' "${sources[@]}" |
      awk -v all=${#sources[@]} -v some=$TIDY_SOURCES_MAX -v at="$TREE" '(NR + at) * some % all < some')
  fi
  printf '%s\n' "${sources[@]}" | clang_tidy
}
stage_lint() { files '*.cc' | clang_tidy; }
stage_clang() { build clang; }
# The sanitizers look at the code, the release build at many histories.
few_histories() {
  export TRUCE_MODEL_SEEDS="${TRUCE_MODEL_SEEDS:-60}"
  export TRUCE_SIMULATION_SEEDS="${TRUCE_SIMULATION_SEEDS:-150}"
  export TRUCE_CASCADE_SEEDS="${TRUCE_CASCADE_SEEDS:-60}"
}
# of_labels: the targets of the tests of these labels.
of_labels() { sed 's/[a-z]*/truce_&_tests/g; s/|/ /g' <<<"$1"; }
# What stage sanitizer picks is one half: what is many and short, or what takes long.
sanitized() {
  local preset="$1" labels="$2"
  case "$HALF" in
    0) labels='unit|contract|fuzz' ;;
    1) labels='model|fault' ;;
  esac
  [ "$preset" = dev ] || labels="${labels/|fuzz/}"
  echo "tests: $labels"
  few_histories
  # shellcheck disable=SC2046 # the names of targets
  build "$preset" $(of_labels "$labels")
  run_together "$preset" "$labels"
}
stage_asan() { sanitized dev 'unit|contract|model|fault|fuzz'; }
stage_tsan() { sanitized tsan 'unit|contract|model|fault'; }
stage_system() { run_pytest_together system; }
stage_e2e() { run_pytest_together e2e; }
# What `make release` made, in fresh Debians and beside the last release.
stage_published() { run_pytest release; }
stage_bench() { run_pytest bench -s; }

# Runs stage $1 in a process of its own, so that a time limit holds for all of it.
run_stage() {
  local log="$RESULTS/$1.log" process status=0 fixed=()
  printf '\n=== %s ===\n' "$1"
  # The thread sanitizer of older compilers cannot start where addresses are this random.
  if [ "$1" = tsan ] && [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -gt 28 ]; then
    fixed=(setarch -R)
  fi
  # Input is closed: no stage may wait for a person.
  timeout -k 20 "$STAGE_SECONDS_MAX" "${fixed[@]}" "$0" --inside "$1" </dev/null > >(tee "$log") 2>&1 &
  process=$!
  # An interrupt reaches this script only, because timeout makes a process group of its own.
  trap 'kill -TERM "$process" 2>/dev/null || true; exit 130' INT TERM
  wait "$process" || status=$?
  trap - INT TERM
  [ "$status" -ne 124 ] || echo "stage $1 was stopped after $STAGE_SECONDS_MAX s"
  return "$status"
}

# On a machine that has none the peers of the end-to-end tests take minutes: they are built from here on,
# beside what leaves a processor idle. Stage e2e waits for them and shows what went wrong.
begin_peers() {
  local peers
  peers="$(PYTHONPATH=tests python3 -c 'from support.peers import of_this_run; print(*of_this_run())')"
  # shellcheck disable=SC2086 # the names of peers
  nice -n 19 .tools/peers.sh $peers >"$RESULTS/peers.log" 2>&1 &
  # shellcheck disable=SC2064 # the process of now
  trap "kill $! 2>/dev/null || true" EXIT
}

main() {
  local stage started status counted total=$SECONDS table="" failed=() sanitizer="asan tsan"
  [ $# -gt 0 ] || { sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2; }
  mkdir -p "$RESULTS"
  if [ "$1" = --inside ]; then
    STAGE="$2"
    "stage_$2"
    return
  fi
  if [ "$ROTATE" != all ] && [[ " $* " == *" sanitizer "* ]]; then
    [ $((TREE / SHARES % 2)) = 0 ] && sanitizer=asan || sanitizer=tsan
    HALF=$((TREE / SHARES / 2 % 2))
  fi
  # shellcheck disable=SC2046,SC2086 # the names of stages
  set -- $(printf '%s ' "$@" | sed "s/\\bsanitizer\\b/$sanitizer/")
  for stage in "$@"; do
    declare -F "stage_$stage" >/dev/null || { echo "unknown stage '$stage'" >&2; exit 2; }
  done
  rm -f "$RESULTS"/*.xml
  for stage in "$@"; do
    started=$SECONDS status=ok
    run_stage "$stage" || status=FAILED
    # A test runner does not fail for a skipped test; this does.
    counted="$(python3 .tools/count_tests.py --line "$RESULTS/$stage.xml")" || status=FAILED
    table+="$(printf '%-10s %-7s %5d s  %s' "$stage" "$status" $((SECONDS - started)) "$counted")"$'\n'
    [ "$status" = ok ] || failed+=("$stage")
    if [ "$stage $status" = "release ok" ] && [[ " $* " == *" e2e "* ]]; then begin_peers; fi
    if [ "$status" = FAILED ] && [[ " setup build release " == *" $stage "* ]]; then
      table+="(stopped: nothing works without $stage)"$'\n'
      break
    fi
  done
  # A lone build is no test run.
  if [ "$*" != build ] && [ "$*" != reformat ]; then
    printf '\n%-10s %-7s %7s  %s\n%s' stage result time tests "$table"
    printf 'all in %d s; the slowest tests:\n' "$((SECONDS - total))"
    python3 .tools/count_tests.py --slowest "$RESULTS"
    python3 .tools/count_tests.py "$RESULTS" "${failed[@]}"
  fi
  [ ${#failed[@]} -eq 0 ]
}

main "$@"
