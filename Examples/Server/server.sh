#!/bin/sh
# server.sh DIRECTORY: a PostgreSQL server for as long as standard input is open. It is made in the
# directory, listens on a Unix socket there and on no network address, starts again after a crash,
# and is removed at the end. It prints "ready" once it accepts connections.
directory=$1
data=$directory/data

tool() {
  for folder in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do
    if [ -x "$folder/$1" ]; then echo "$folder/$1"; return; fi
  done
  command -v "$1" || { echo "there is no $1: install PostgreSQL, on Debian postgresql" >&2; exit 1; }
}
initdb=$(tool initdb) || exit 1
postgres=$(tool postgres) || exit 1

# Root may not start a server.
as=
if [ "$(id -u)" -eq 0 ]; then
  user=postgres
  id -u $user >/dev/null 2>&1 || user=nobody
  chown $user "$directory"
  as="setpriv --reuid=$user --regid=$(id -g $user) --clear-groups"
fi

cd /
trap '' INT TERM
if $as "$initdb" -D "$data" -U dflat -A trust -E UTF8 --locale=C -N >"$directory/initdb.log" 2>&1; then
  while [ ! -e "$directory/stop" ]; do
    $as "$postgres" -D "$data" -k "$directory" -c listen_addresses= -c max_connections=100 \
      >>"$directory/server.log" 2>&1 </dev/null
    sleep 0.1
  done &
  tries=0
  until grep -qs ready "$data/postmaster.pid"; do
    tries=$((tries + 1))
    if [ $tries -gt 1200 ]; then break; fi
    sleep 0.05
  done
  echo ready
  exec >/dev/null
  cat >/dev/null
  touch "$directory/stop"
  kill -QUIT "$(head -n 1 "$data/postmaster.pid")" 2>/dev/null
  wait
else
  cat "$directory/initdb.log" >&2
fi
rm -rf "$directory"
