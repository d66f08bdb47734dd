// SQLite's mutex interface (sqlite.org/c3ref/mutex_methods.html) over glibc's adaptive mutexes.

#define _GNU_SOURCE
#include "CSQLiteThreads.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>

#if defined(__GLIBC__)

struct sqlite3_mutex {
  pthread_mutex_t mutex;
};

// SQLite knows its static mutexes by small numbers, from 2 up to 13 today.
enum { firstStatic = 2, staticCount = 30 };
static sqlite3_mutex staticMutexes[staticCount];

static int initialise(sqlite3_mutex *mutex, int kind) {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return SQLITE_NOMEM;
  pthread_mutexattr_settype(&attributes, kind);
  int failure = pthread_mutex_init(&mutex->mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return failure == 0 ? SQLITE_OK : SQLITE_NOMEM;
}

static int begin(void) {
  for (int index = 0; index < staticCount; index++) {
    int result = initialise(&staticMutexes[index], PTHREAD_MUTEX_ADAPTIVE_NP);
    if (result != SQLITE_OK) return result;
  }
  return SQLITE_OK;
}

// The static ones stay: SQLite may be initialised again.
static int end(void) { return SQLITE_OK; }

static sqlite3_mutex *make(int kind) {
  if (kind >= firstStatic) {
    return kind < firstStatic + staticCount ? &staticMutexes[kind - firstStatic] : NULL;
  }
  sqlite3_mutex *mutex = malloc(sizeof *mutex);
  int type = kind == SQLITE_MUTEX_RECURSIVE ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_ADAPTIVE_NP;
  if (mutex && initialise(mutex, type) != SQLITE_OK) {
    free(mutex);
    return NULL;
  }
  return mutex;
}

static void destroy(sqlite3_mutex *mutex) {
  pthread_mutex_destroy(&mutex->mutex);
  free(mutex);
}

static void enter(sqlite3_mutex *mutex) { pthread_mutex_lock(&mutex->mutex); }

static int try(sqlite3_mutex *mutex) {
  return pthread_mutex_trylock(&mutex->mutex) == 0 ? SQLITE_OK : SQLITE_BUSY;
}

static void leave(sqlite3_mutex *mutex) { pthread_mutex_unlock(&mutex->mutex); }

// Asked by a debugging SQLite only, whose documentation allows a truth that is not known.
static int isHeldOrNot(sqlite3_mutex *mutex) {
  (void)mutex;
  return 1;
}

static const sqlite3_mutex_methods adaptive = {
    .xMutexInit = begin,
    .xMutexEnd = end,
    .xMutexAlloc = make,
    .xMutexFree = destroy,
    .xMutexEnter = enter,
    .xMutexTry = try,
    .xMutexLeave = leave,
    .xMutexHeld = isHeldOrNot,
    .xMutexNotheld = isHeldOrNot,
};

#endif

static int configure(void) {
#if defined(__GLIBC__)
  int result = sqlite3_config(SQLITE_CONFIG_MUTEX, &adaptive);
  if (result != SQLITE_OK) return result;
#endif
  int memory = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  if (memory != SQLITE_OK) return memory;
  // What was kept is written at once when it grows beyond this, and SQLite takes the length of a
  // write for a number below 128 KiB (seekAndWriteFd in os_unix.c). With a longer one the statement
  // fails with SQLITE_FULL.
  return sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, 120 * 1024);
}

int csqlite_configure_for_threads(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static int isConfigured = 0;
  pthread_mutex_lock(&lock);
  int result = isConfigured ? SQLITE_OK : configure();
  if (result == SQLITE_OK) isConfigured = 1;
  pthread_mutex_unlock(&lock);
  return result;
}
