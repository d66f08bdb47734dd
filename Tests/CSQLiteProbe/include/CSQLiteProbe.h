// What SQLite's settings of this process are, for tests.
#pragma once

// Whether SQLite's mutexes are those that the SQLite library itself has. Shuts SQLite down, so that it
// can be asked: no connection may be open.
int csqlite_probe_has_default_mutexes(void);
