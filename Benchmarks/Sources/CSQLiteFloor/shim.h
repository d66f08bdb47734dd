// SQLite's C API, for the benchmark's floor.
#include <sqlite3.h>
