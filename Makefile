# What a newcomer can make here. Every rule first installs what it needs and lacks (Scripts/bootstrap.sh).
#
#   make demo             build and run Examples/Posts; FILE=path imports another file in dpkg's status format
#   make demo-live        build and run a list in the terminal that follows changes made elsewhere in the program
#   make demo-reader      build and run the store of a feed reader; FILE=path imports a feed, or a folder of them
#   make demo-empire      the same for Examples/People and Empire
#   make demo-graphql     asks a GraphQL service about Star Wars and stores what it says; SERVER=1 asks a server of its own, in place of recorded answers
#                         then runs like a client of a large service: a list that pages, a star at once, a start without a connection
#   make demo-silo        plain Swift values in four kinds of stores, a new version, and uploads to a server of its own that survive a crash
#   make demo-rescue      damages copies of the demo's packages in four ways, and shows what dflat check finds and dflat repair saves
#   make demo-server      the posts and packages of the demo on a PostgreSQL server of its own, where four processes sell the seats of one hall
#   make test             all tests, and the code of the README and of the articles against their output
#   make check            before a commit: lint, and the tests of what differs from the branch main (or from BASE=commit)
#   make test-long        all tests with many more cases (DFLAT_LONG=1), optimised; FILTER=pattern runs some of them, in the build of
#                         `make test`
#   make test-inspector   the page of `dflat serve` in Chromium and Firefox: by keyboard alone, names and landmarks for screen readers,
#                         pictures in .build/inspector
#   make verify           transactions held to their promises: histories, kills, uploads, failing disks; TIME=seconds (default 300)
#   make verify-postgres  the same over a PostgreSQL server of its own: several processes, a pooler, live results, long transactions,
#                         index builds, queries of standbys, 200 crashes and 20 failovers to a standby, some minutes; TIME=seconds for so long;
#                         LONG=1 until there were 200,000 transactions, some 20 minutes
#   make tsan             the tests of what runs on several threads, under ThreadSanitizer; FILTER=pattern chooses among all tests
#   make lint             formatting, documentation of public declarations, paths of somebody's machine
#   make format           format all sources in place
#   make docs             one site with the DocC pages of every library, into .build/docs; a warning is an error; SERVE=1 serves it
#   make bench            benchmarks beside a hand-written floor; CASES=id,id and RUNS=n choose
#   make bench-instructions
#                         counts the instructions of both sides with valgrind, whatever else the machine does; CASES=id,id chooses
#   make bench-smoke      every benchmark once, to see that it runs
#   make bench-empire     the same for Empire, beside LMDB's C interface
#   make bench-postgres   the same for workspaces on a PostgreSQL server, beside its C interface; starts a server of its own
#   make bench-peers      eight tasks beside SQLite by hand in Swift and Python's sqlite3
#   make bench-scaling    how cost grows from 10,000 to 1,000,000 objects; SIZES=n,n chooses others
#   make bench-build      how long the first release build of a program that uses Dflat takes, and Empire, the build of a target
#                         with 30 entities, and of 50 with 200 queries beside 50 values and SQL by hand (some minutes); SMOKE=1 builds one of each, to see that
#                         it runs
#   make fuzz             hostile bytes for the FlatBuffers reader and verifier, for rows, for Empire's values, for
#                         backups of changed pages and for GraphQL, and a comparison with FlatBuffers for C++; TIME=seconds each (default 60, and 1,000,000 buffers compared)
#   make bootstrap        install everything that any rule needs
#   make clean            remove everything that was built
#
# A rule may be called again at any time: what is done already is not done twice.

.PHONY: demo demo-live demo-reader demo-empire demo-graphql demo-silo demo-rescue demo-server test check test-long test-inspector verify verify-postgres tsan lint format docs bench bench-instructions bench-smoke bench-empire bench-postgres bench-scaling bench-peers bench-build fuzz bootstrap clean
.DEFAULT_GOAL := help

FILE ?=
CASES ?=
RUNS ?=
SIZES ?=
TIME ?=
FILTER ?=
SERVER ?=
SERVE ?=

# SwiftPM looks for new files in a package that is used by path only when the using package's manifest is newer than the
# last build. Without this, a file added to Sources would be missing from the demo and the benchmarks.
replan = @touch Examples/Posts/Package.swift Examples/People/Package.swift Examples/Reader/Package.swift Examples/Forms/Package.swift Examples/StarWars/Package.swift Examples/Server/Package.swift Benchmarks/Package.swift

# What is optimised is built into one folder: the examples, the benchmarks and the verification are packages that use the same
# libraries, which are then compiled once.
release = -c release --scratch-path $(CURDIR)/.build-release
built = .build-release/release

# The tests, and all that `make test` builds, are built into another: nothing is compiled twice there, either.
debug = --scratch-path $(CURDIR)/.build

# How many tests run at a time. Most wait for other threads, programs or servers; if all did so at once, each would have to wait
# for the others, and its limit of time counts that.
tests_at_once = SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8

# Prints the list above.
.PHONY: help
help:
	@sed -n 's/^#   //p' Makefile

demo:
	@Scripts/bootstrap.sh build
	$(replan)
	Scripts/swift-build.sh $(release) --package-path Examples/Posts --product posts
	@$(built)/posts --into .build-release/demo/posts $(if $(FILE),"$(FILE)")

demo-live:
	@Scripts/bootstrap.sh build
	$(replan)
	Scripts/swift-build.sh $(release) --package-path Examples/Posts --product live
	@$(built)/live $(ARGUMENTS)

demo-reader:
	@Scripts/bootstrap.sh build
	$(replan)
	Scripts/swift-build.sh $(release) --package-path Examples/Reader --product reader
	@$(built)/reader --into .build-release/demo/reader "$(or $(FILE),Examples/Reader/Feeds)"

demo-empire:
	@Scripts/bootstrap.sh empire
	$(replan)
	Scripts/swift-build.sh $(release) --package-path Examples/People --product people
	@$(built)/people --into .build-release/demo/people $(if $(FILE),"$(FILE)")

demo-graphql:
	@Scripts/bootstrap.sh build $(if $(SERVER),test)
	$(replan)
	Scripts/swift-build.sh $(release) --package-path Examples/StarWars
	@$(built)/starwars --into .build-release/demo/starwars $(if $(SERVER),--serve)
	@$(built)/next --into .build-release/demo/starwars $(if $(SERVER),--serve)
	@$(built)/repositories --into .build-release/demo/repositories

demo-silo:
	@Scripts/bootstrap.sh build empire python
	$(replan)
	Scripts/swift-build.sh $(release) --package-path Examples/Forms --product forms
	@$(built)/forms --into .build-release/demo/forms

demo-rescue:
	@Scripts/bootstrap.sh build inspector
	@[ -f .build-release/demo/posts/packages.db ] || $(MAKE) demo
	$(replan)
	Scripts/swift-build.sh $(release) --product dflat
	@Scripts/demo-rescue.sh $(built)/dflat .build-release/demo/posts/packages.db .build-release/demo/rescue

demo-server:
	@Scripts/bootstrap.sh build postgres cluster
	$(replan)
	Scripts/swift-build.sh $(release) --package-path Examples/Server --product hall
	@$(built)/hall --into .build-release/demo/server

test:
	@Scripts/bootstrap.sh build empire postgres inspector test
	Scripts/swift-build.sh --build-tests
	$(tests_at_once) swift test --skip-build --disable-xctest
	$(replan)
	swift test $(debug) --disable-xctest --package-path Examples/Posts
	swift test $(debug) --disable-xctest --package-path Examples/Reader
	Scripts/check-readme.sh
	Scripts/check-articles.py

check: lint
	@Scripts/bootstrap.sh build empire postgres inspector test
	@tests=$$(Scripts/changed-tests.py) || { [ $$? -eq 3 ] && exit 0; exit 1; }; \
	if [ -n "$$tests" ]; then \
	  export TESTS=$$tests $(tests_at_once); \
	  Scripts/swift-build.sh --build-tests && swift test --skip-build --disable-xctest $(if $(FILTER),--filter '$(FILTER)'); \
	fi

test-long:
	@Scripts/bootstrap.sh build empire postgres inspector test
	DFLAT_LONG=1 $(tests_at_once) swift test --disable-xctest \
	  $(if $(FILTER),--filter '$(FILTER)',-c release -Xswiftc -enable-testing --scratch-path .build-long)

test-inspector:
	@Scripts/bootstrap.sh build inspector browsers
	Scripts/swift-build.sh --product dflat
	Scripts/check-inspector.py

verify:
	@Scripts/bootstrap.sh build python
	Scripts/swift-build.sh $(release) --product dflat-verify
	$(built)/dflat-verify all --time $(or $(TIME),300)

verify-postgres:
	@Scripts/bootstrap.sh build postgres cluster pooler
	Scripts/swift-build.sh $(release) --product dflat-verify-postgres
	$(built)/dflat-verify-postgres all $(if $(TIME),--time $(TIME)) $(if $(LONG),--transactions 200000)

threaded_tests = SQLiteAccessTests|SQLiteDflatTests|PostgresDflatTests|^DflatTests|DflatCombineTests|EngineTests|LMDBTests|EmpireTests|SiloTests

tsan:
	@Scripts/bootstrap.sh build empire postgres inspector test
	Scripts/swift-build.sh --build-tests --sanitize=thread -Xswiftc -DSANITIZE_THREAD --scratch-path .build-tsan
	$(tests_at_once) swift test --skip-build --sanitize=thread -Xswiftc -DSANITIZE_THREAD --disable-xctest --scratch-path .build-tsan \
	  --filter '$(or $(FILTER),$(threaded_tests))'

lint:
	@Scripts/bootstrap.sh lint
	Scripts/lint.sh

format:
	@Scripts/bootstrap.sh lint
	Scripts/lint.sh --format

docs:
	@Scripts/bootstrap.sh build empire postgres inspector docs
	Scripts/docs.sh $(if $(SERVE),--serve)

bench_options = $(if $(CASES),CASES="$(CASES)") $(if $(RUNS),RUNS="$(RUNS)") $(if $(SIZES),SIZES="$(SIZES)")
bench_program = swift run $(release) --package-path Benchmarks bench

bench:
	@Scripts/bootstrap.sh build
	$(replan)
	$(bench_options) $(bench_program)
	$(if $(CASES),,Scripts/update-performance.sh)

bench-instructions:
	@Scripts/bootstrap.sh build count
	$(replan)
	$(bench_options) $(bench_program) instructions
	$(if $(CASES),,Scripts/update-performance.sh)

bench-smoke:
	@Scripts/bootstrap.sh build empire python
	$(replan)
	$(bench_options) $(bench_program) smoke
	swift run $(release) --package-path Benchmarks bench-empire smoke

bench-empire:
	@Scripts/bootstrap.sh build empire
	$(replan)
	$(bench_options) swift run $(release) --package-path Benchmarks bench-empire

bench-postgres:
	@Scripts/bootstrap.sh build postgres cluster
	$(replan)
	$(bench_options) swift run $(release) --package-path Benchmarks bench-postgres $(if $(SMOKE),smoke)

bench-scaling:
	@Scripts/bootstrap.sh build
	$(replan)
	$(bench_options) $(bench_program) scaling

bench-peers:
	@Scripts/bootstrap.sh build python
	$(replan)
	$(bench_options) $(bench_program) peers

bench-build:
	@Scripts/bootstrap.sh build empire
	Scripts/clean-build-time.sh $(if $(SMOKE),sqlite)
	$(smoke_build) Scripts/large-build-time.sh
	$(smoke_build) Scripts/compile-time.sh

smoke_build = $(if $(SMOKE),ENTITIES=1 BUILD=$(CURDIR)/.build-release)

fuzz:
	@Scripts/bootstrap.sh build test fuzz
	@mkdir -p .build
	cd .build && ../Fuzz/run.sh $(TIME)

bootstrap:
	@Scripts/bootstrap.sh build empire postgres inspector test python lint docs fuzz

clean:
	rm -rf .build .build-* Examples/*/.build Benchmarks/.build
