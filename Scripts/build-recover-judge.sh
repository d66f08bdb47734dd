#!/bin/sh
# Builds Debian's own sqlite3 with the table `sqlite_dbpage`, which its `.recover` needs and Debian leaves out.
# The tests of repair compare with it if DFLAT_RECOVER names it: Scripts/build-recover-judge.sh FOLDER
set -eu
folder=$(mkdir -p "${1:?usage: build-recover-judge.sh FOLDER}" && cd "$1" && pwd)
cd "$folder"
[ -x sqlite3 ] && { echo "$folder/sqlite3"; exit 0; }
mkdir -p lists/partial parts
sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources > parts/source.sources
apt() {
  apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$folder/parts" -o Dir::State::lists="$folder/lists" "$@"
}
apt update
apt source --download-only sqlite3 > download.log 2>&1
rm -rf source
dpkg-source -x sqlite3_*.dsc source > unpack.log 2>&1
(cd source && ./configure --disable-tcl --disable-readline && make sqlite3.c shell.c) > build.log 2>&1
cc -O2 -DSQLITE_ENABLE_DBPAGE_VTAB -DSQLITE_ENABLE_FTS5 -DSQLITE_THREADSAFE=0 -Isource -o sqlite3 source/shell.c source/sqlite3.c -lm -ldl
echo "$folder/sqlite3"
