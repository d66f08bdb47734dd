// Settings can be read only while SQLite is not initialised, by a function with a variable number of
// arguments, which Swift cannot call.

#define _GNU_SOURCE
#include "CSQLiteProbe.h"

#include <dlfcn.h>
#include <sqlite3.h>
#include <string.h>

int csqlite_probe_has_default_mutexes(void) {
  sqlite3_mutex_methods methods;
  memset(&methods, 0, sizeof methods);
  if (sqlite3_shutdown() != SQLITE_OK) return 0;
  if (sqlite3_config(SQLITE_CONFIG_GETMUTEX, &methods) != SQLITE_OK) return 0;
  Dl_info theirs, library;
  if (!dladdr((void *)methods.xMutexEnter, &theirs)) return 0;
  if (!dladdr((void *)sqlite3_shutdown, &library)) return 0;
  return theirs.dli_fbase == library.dli_fbase;
}
