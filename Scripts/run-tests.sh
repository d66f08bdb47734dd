#!/usr/bin/env bash
# Runs the tests that `swift build --build-tests` has built, in two processes at a time.
#
# A test that waits for a program blocks a thread of Swift's pool, which has one for each core. On two cores one process used 1.2 of
# them. So the targets whose tests call compilers, `dflat` and judges run beside all others.
set -euo pipefail
cd "$(dirname "$0")/.."
callers='^(DflatGeneratorTests|DflatSchemaTests|GraphQLSchemaTests|DflatGraphQL\w*Tests|EmpireMacrosTests|SiloMacrosTests|DflatToolsTests|DflatShellTests|DflatInspectorTests)\.'

# Elsewhere the tests are a bundle, which only `swift test` can open.
if [ "$(uname)" != Linux ]; then exec swift test --skip-build --disable-xctest; fi

tests="$(swift build --show-bin-path)/DflatPackageTests.xctest --testing-library swift-testing"
$tests --filter "$callers" &
of_callers=$!
trap 'kill $of_callers 2>/dev/null || true' EXIT
status=0
$tests --skip "$callers" || status=$?
wait $of_callers || status=$?
exit $status
