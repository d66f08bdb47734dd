// How SQLite works among many threads of one process: set once, before SQLite is used.
#pragma once

// Gives SQLite mutexes that spin for a moment before they sleep, and turns its statistics of memory off, whose counters all
// threads would have to lock.
//
// A reader and a writer of one file meet at a mutex in every transaction: the one that SQLite keeps around a file's shared locks,
// and holds while it asks the kernel. To sleep there costs more than what is waited for: a fetch beside a busy writer took five
// times as long as in a quiet file. The standard mutex of glibc sleeps at once; its adaptive one tries again about a hundred times.
//
// These settings are the process's. Who has initialised SQLite before keeps what he has chosen: then nothing is changed, and
// everything works as it would, but slower. Elsewhere than with glibc only the statistics are turned off.
void csqlite_prepare_for_threads(void);
