// SQLite's C API, for the benchmark's floor.
#include <sqlite3.h>

// Has a connection run no triggers. Swift cannot call functions with a variable number of arguments.
static inline int floor_run_no_triggers(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
}
