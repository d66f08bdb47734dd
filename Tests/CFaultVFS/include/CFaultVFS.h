// A disk that fails on demand, for SQLite.
//
// A virtual file system of SQLite's that stands before the system's own and is the default of the process. For files in a
// directory that was attached it counts the calls, makes chosen ones fail, and remembers which writes no sync has made
// lasting; all other files it hands on untouched. So code under test opens its files as it always does.
//
// It keeps true:
//
//  - without an order to fail, an attached directory behaves as any other;
//  - what counts as lasting is what was written before a sync of the same file that succeeded;
//  - locks and the shared memory of the write-ahead log are the system's own, and giving one back never fails;
//  - syncs do not reach the real disk: a run costs no more than its writes, and its files are worth nothing afterwards.
#pragma once
#include <stdint.h>

// An attached directory.
typedef struct faultvfs_disk faultvfs_disk;

// Kinds of calls, to be added up.
enum {
  FAULTVFS_OPEN = 1,
  FAULTVFS_READ = 2,
  FAULTVFS_WRITE = 4,
  FAULTVFS_TRUNCATE = 8,
  FAULTVFS_SYNC = 16,
  FAULTVFS_DELETE = 32,
  FAULTVFS_SIZE = 64,
  FAULTVFS_ACCESS = 128,
  FAULTVFS_LOCK = 256,
  FAULTVFS_SHARED_MEMORY = 512,
  FAULTVFS_CHANGES = FAULTVFS_WRITE | FAULTVFS_TRUNCATE | FAULTVFS_SYNC | FAULTVFS_DELETE,
  FAULTVFS_ALL = 1023
};

// How a call fails, and what becomes of those after it.
typedef enum {
  FAULTVFS_ONCE,       // this one only
  FAULTVFS_PERSISTENT, // this one and all after it of the chosen kinds
  FAULTVFS_FULL,       // as persistent, but only what writes fails, and it says that the disk is full
  FAULTVFS_POWER_OFF   // this one and everything after it of whatever kind
} faultvfs_mode;

// What of the writes that were not made lasting is on the disk after a power loss.
typedef enum {
  FAULTVFS_DROPPED,   // nothing
  FAULTVFS_KEPT,      // all
  FAULTVFS_CUT,       // those before a random moment, and the first sectors of the one at it
  FAULTVFS_SCATTERED  // any sectors of any of them
} faultvfs_survival;

// The size of what a disk writes wholly or not at all.
enum { FAULTVFS_SECTOR = 512 };

// Attaches a directory, which must exist. Returns NULL if that is impossible.
faultvfs_disk *faultvfs_attach(const char *directory);

// Lets go of a directory. Files in it that are still open use the disk until they are closed.
void faultvfs_detach(faultvfs_disk *disk);

// Makes the `number`-th call from now of the given kinds fail; 0 makes none fail and counts only.
void faultvfs_arm(faultvfs_disk *disk, int kinds, int64_t number, faultvfs_mode mode);

// Makes no call fail any more. Counts stay.
void faultvfs_disarm(faultvfs_disk *disk);

// Whether syncs succeed without making anything lasting.
void faultvfs_lie_about_syncs(faultvfs_disk *disk, int lies);

// How many calls of the armed kinds there were since the disk was armed.
int64_t faultvfs_calls(faultvfs_disk *disk);

// How many calls were made to fail since then.
int64_t faultvfs_failures(faultvfs_disk *disk);

// Writes a description of the first failed call, such as "write of 4096 at 8192 to test.db-wal", and ends it with NUL.
void faultvfs_describe_failure(faultvfs_disk *disk, char *text, int size);

// Writes the files as a power loss now would leave them into another directory, which exists.
// Returns 0, or the system's error number.
int faultvfs_write_image(
    faultvfs_disk *disk, const char *directory, faultvfs_survival survival, uint64_t seed);
