#!/usr/bin/env bash
# Installs what the named purposes need and this machine lacks: bootstrap.sh [build|count|empire|postgres|inspector|browsers|cluster|pooler|test|python|lint|docs|fuzz]...
#
# On Debian and its relatives by apt, on macOS by Homebrew; elsewhere it names what to install. A second run finds everything
# in place, installs nothing and takes no time. Swift itself is never installed, only asked for.
set -euo pipefail

needed_swift=6.3

fail() {
  printf 'bootstrap: %s\n' "$@" >&2
  exit 1
}

# Each need is a check and the names of what satisfies it.
has_tool() { command -v "$1" >/dev/null 2>&1; }
has_sqlite_headers() {
  if [ "$system" = Darwin ]; then return 0; fi # part of the SDK
  has_tool pkg-config && pkg-config --exists sqlite3
}

has_flatbuffers_headers() { # in C++, where tests look for them
  if [ "$system" = Darwin ]; then return 0; fi
  [ -e /usr/include/flatbuffers/flatbuffers.h ]
}

# graphql-core from the Python package index: Debian 12 has version 2, which knows the language of 2018. It is put into the
# build folder, where the tests look for it.
python_modules=$(cd "$(dirname "$0")/.." && pwd)/.build/python
has_graphql_core() {
  PYTHONPATH="$python_modules${PYTHONPATH:+:$PYTHONPATH}" python3 -c \
    'import graphql, sys; sys.exit(graphql.version_info[:2] != (3, 2))' 2>/dev/null
}

install_graphql_core() {
  echo "bootstrap: installing graphql-core 3.2 into .build/python"
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --target "$python_modules" 'graphql-core>=3.2.3,<3.3' >&2 ||
    fail "installing failed; do: python3 -m pip install --target .build/python 'graphql-core>=3.2.3,<3.3'"
}

has_lmdb_headers() { has_tool pkg-config && pkg-config --exists lmdb; }

has_libpq_headers() { has_tool pkg-config && pkg-config --exists libpq; }

has_microhttpd_headers() { has_tool pkg-config && pkg-config --exists libmicrohttpd; }

# What drives browsers, from the Python package index.
has_websocket_client() { PYTHONPATH="$python_modules" python3 -c 'import websocket' 2>/dev/null; }

install_websocket_client() {
  echo "bootstrap: installing websocket-client into .build/python"
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --target "$python_modules" 'websocket-client>=1.8,<2' >&2 ||
    fail "installing failed; do: python3 -m pip install --target .build/python 'websocket-client>=1.8,<2'"
}

# Debian keeps the programs of a server out of the path.
has_postgres() {
  if has_tool initdb && has_tool postgres; then return 0; fi
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

# Debian's package makes a server and starts it, unless its common part is told otherwise before. The tests make their own.
install_without_main_cluster() { # options of apt-get
  local settings=/etc/postgresql-common/createcluster.conf
  as_root apt-get "$@" install -y --no-install-recommends postgresql-common </dev/null >&2 &&
    as_root sed -ri 's/^#?create_main_cluster .*$/create_main_cluster = false/' "$settings"
}

has_pgbouncer() { has_tool pgbouncer || [ -x /usr/sbin/pgbouncer ]; }

# Debian's package starts one for the whole machine. The tests start their own.
stop_pgbouncer() { if has_tool systemctl; then as_root systemctl disable --now --quiet pgbouncer || true; fi; }

has_pip() { python3 -m pip --version >/dev/null 2>&1; }

apt=() brew=() plain=() modules=()
need() { # check, Debian's package, Homebrew's, name for people
  if ! $1; then
    apt+=("$2") brew+=("$3") plain+=("$4")
  fi
}

check_swift() {
  local advice="install Swift $needed_swift or newer from https://www.swift.org/install and put it into PATH"
  has_tool swift || fail "there is no swift command." "$advice"
  local version
  version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1)
  [ -n "$version" ] || fail "'swift --version' does not work here." "$advice"
  if [ "${version%%.*}" -lt "${needed_swift%%.*}" ] || {
    [ "${version%%.*}" -eq "${needed_swift%%.*}" ] && [ "${version#*.}" -lt "${needed_swift#*.}" ]
  }; then
    fail "this is Swift $version; Dflat needs $needed_swift or newer." "$advice"
  fi
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif has_tool sudo; then
    # Without a terminal nobody can type a password: fail instead of waiting.
    if [ -t 0 ]; then sudo "$@"; else sudo -n "$@"; fi
  else
    return 1
  fi
}

install_missing() {
  if has_tool apt-get; then
    echo "bootstrap: installing ${apt[*]}"
    local options=(-o DPkg::Lock::Timeout=300 -qq)
    as_root apt-get "${options[@]}" update </dev/null &&
      case " ${apt[*]} " in *" postgresql "*) install_without_main_cluster "${options[@]}" ;; esac &&
      as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get "${options[@]}" install -y --no-install-recommends "${apt[@]}" </dev/null >&2 ||
      fail "installing failed; as root, do: apt-get update && apt-get install ${apt[*]}"
  elif has_tool brew; then
    echo "bootstrap: installing ${brew[*]}"
    # Homebrew refuses to run as root.
    if [ "$(id -u)" -eq 0 ] && [ -n "${SUDO_USER:-}" ]; then
      sudo -u "$SUDO_USER" brew install "${brew[@]}" </dev/null
    else
      brew install "${brew[@]}" </dev/null
    fi || fail "installing failed; do: brew install ${brew[*]}"
  else
    fail "this system has neither apt-get nor brew; please install:" "${plain[@]/#/  }"
  fi
}

system=$(uname -s)
check_swift
for purpose in "${@:-build}"; do
  case $purpose in
    build)
      need "has_tool pkg-config" pkg-config pkg-config "pkg-config"
      need has_sqlite_headers libsqlite3-dev sqlite "SQLite 3 with its header and sqlite3.pc"
      ;;
    count)
      need "has_tool valgrind" valgrind valgrind "valgrind, with its header callgrind.h"
      need "has_tool objcopy" binutils binutils "objcopy, which copies a program without its debug information"
      ;;
    empire)
      need "has_tool pkg-config" pkg-config pkg-config "pkg-config"
      need has_lmdb_headers liblmdb-dev lmdb "LMDB with its header and lmdb.pc"
      ;;
    postgres)
      need "has_tool pkg-config" pkg-config pkg-config "pkg-config"
      need has_libpq_headers libpq-dev libpq "libpq, PostgreSQL's client library, with its header and libpq.pc"
      ;;
    inspector)
      need "has_tool pkg-config" pkg-config pkg-config "pkg-config"
      need has_microhttpd_headers libmicrohttpd-dev libmicrohttpd "GNU libmicrohttpd with its header and libmicrohttpd.pc"
      # The command that starts it also looks at servers.
      need has_libpq_headers libpq-dev libpq "libpq with its header and libpq.pc"
      ;;
    browsers)
      need "has_tool chromium" chromium chromium "Chromium"
      need "has_tool firefox-esr" firefox-esr firefox "Firefox"
      need "has_tool python3" python3 python "Python 3"
      if ! has_websocket_client; then
        need has_pip python3-pip python3 "pip, the installer of Python"
        modules+=(install_websocket_client)
      fi
      ;;
    test)
      need "has_tool sqlite3" sqlite3 sqlite "the command sqlite3"
      need "has_tool mdb_dump" lmdb-utils lmdb "LMDB's commands mdb_dump and mdb_load"
      need "has_tool flatc" flatbuffers-compiler flatbuffers "the FlatBuffers compiler flatc"
      need has_flatbuffers_headers libflatbuffers-dev flatbuffers "FlatBuffers' headers for C++"
      need has_postgres postgresql postgresql "a PostgreSQL server, 13 or newer"
      need "has_tool python3" python3 python3 "Python 3"
      if ! has_graphql_core; then
        need has_pip python3-pip python3 "pip, the installer of Python"
        modules+=(install_graphql_core)
      fi
      ;;
    cluster)
      need has_postgres postgresql postgresql "a PostgreSQL server, 13 or newer"
      ;;
    pooler)
      if ! has_pgbouncer; then
        need has_pgbouncer pgbouncer pgbouncer "PgBouncer"
        modules+=(stop_pgbouncer)
      fi
      ;;
    python)
      need "has_tool python3" python3 python "Python 3"
      ;;
    lint | docs | fuzz) ;; # the Swift toolchain has swift-format, docc and libFuzzer
    *) fail "there is no purpose '$purpose'; known are build, empire, postgres, inspector, browsers, cluster, pooler, test, python, lint, docs and fuzz" ;;
  esac
done

if [ ${#apt[@]} -gt 0 ]; then install_missing; fi
for install in ${modules[@]+"${modules[@]}"}; do $install; done
