// SQLite's settings of the process, for programs that use it on several threads at once.
#pragma once

// Gives SQLite mutexes that spin for a moment before they sleep (with glibc), turns its memory
// statistics off, whose counters all threads would lock, and lets it keep 120 KiB of what a
// savepoint may have to restore in memory. See SQLiteProcess.swift.
//
// Returns SQLITE_OK, also when it is called again; SQLITE_MISUSE if SQLite was initialised before,
// which happens when its first connection is opened. Then nothing is changed.
int csqlite_configure_for_threads(void);
