#!/bin/sh
# server.sh DIRECTORY: a PostgreSQL server and its standby, for as long as standard input is open.
#
# Both are made in the directory, and listen on Unix sockets there (in `a` and `b`) and on no network
# address. A transaction is committed once the standby has it, too. Prints "ready" once the server
# accepts connections. The line "fail" on standard input kills it, and the standby takes over. At the
# end both are stopped and removed.
directory=$1

tool() {
  for folder in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do
    if [ -x "$folder/$1" ]; then echo "$folder/$1"; return; fi
  done
  command -v "$1" || { echo "there is no $1: install PostgreSQL, on Debian postgresql" >&2; exit 1; }
}
initdb=$(tool initdb) && postgres=$(tool postgres) && basebackup=$(tool pg_basebackup) &&
  pg_ctl=$(tool pg_ctl) || exit 1

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
log=$directory/log

# start NAME: starts one of the two.
start() {
  $as "$postgres" -D "$directory/$1/data" -k "$directory/$1" -c cluster_name="$1" \
    -c listen_addresses= -c max_connections=100 -c synchronous_standby_names="$2" \
    >>"$log" 2>&1 </dev/null &
}

# stop NAME: kills one of the two, if it runs.
stop() {
  kill -QUIT "$(head -n 1 "$directory/$1/data/postmaster.pid" 2>/dev/null)" 2>/dev/null
}

# await NAME STATE: waits until one of the two is in a state.
await() {
  tries=0
  until grep -qs "$2" "$directory/$1/data/postmaster.pid"; do
    tries=$((tries + 1))
    if [ $tries -gt 1200 ]; then return 1; fi
    sleep 0.05
  done
}

$as mkdir "$directory/a" "$directory/b" &&
  $as "$initdb" -D "$directory/a/data" -U dflat -A trust -E UTF8 --locale=C -N >"$log" 2>&1 &&
  start a b && await a ready &&
  $as "$basebackup" -h "$directory/a" -U dflat -D "$directory/b/data" -R -c fast >>"$log" 2>&1 &&
  start b "" && await b ready && echo ready || cat "$log" >&2
exec >/dev/null
while read -r command; do
  if [ "$command" = fail ]; then
    stop a
    $as "$pg_ctl" -D "$directory/b/data" promote >>"$log" 2>&1
  fi
done
stop a
stop b
wait
rm -rf "$directory"
