// What the parts of the shim share: the disk, its files, and the writes that are not lasting yet.
#pragma once
#include "CFaultVFS.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>

typedef enum { change_write, change_truncate, change_delete } change_kind;

// A change of a file that no sync has made lasting.
typedef struct pending_change {
  change_kind kind;
  int64_t number;  // in the order of the whole disk
  int64_t offset;  // of a write; the new size of a truncation
  size_t count;
  unsigned char *bytes;
  struct pending_change *next;
} pending_change;

// A file as the disk has it for good, and what was changed since.
typedef struct disk_file {
  char *name;  // within the directory
  int is_lasting;
  unsigned char *bytes;
  size_t count;
  pending_change *first;
  pending_change **end;
  struct disk_file *next;
} disk_file;

struct faultvfs_disk {
  int users;  // whoever has attached it, its open files, and the calls that found it
  pthread_mutex_t lock;  // guards everything below
  char *directory;       // with a slash at its end
  disk_file *files;
  int64_t changes;
  int kinds;
  faultvfs_mode mode;
  int64_t number;
  int64_t calls;
  int64_t failures;
  int is_off;
  int lies;
  char failure[160];
  struct faultvfs_disk *next;
};

// The disk that a path is on, with one user more; NULL for any other path.
faultvfs_disk *faultvfs_find(const char *path);

// Takes away a user of a disk. The last one frees it.
void disk_release(faultvfs_disk *disk);

// Makes the shim SQLite's default. Returns an SQLite code.
int faultvfs_register(void);

// What becomes of a call.
typedef enum {
  call_passes = 0,
  call_fails,       // as others before it
  call_fails_first, // as the first one
  call_cut          // the power goes off during it
} call_fate;

// Counts a call and says what becomes of it. `name` is the file's, within the directory.
call_fate disk_fate(
    faultvfs_disk *disk, int kind, const char *name, const char *verb, int64_t count, int64_t offset);

// Whether failing writes say that the disk is full.
int disk_is_full(faultvfs_disk *disk);

disk_file *disk_open(faultvfs_disk *disk, const char *path);
void disk_wrote(
    faultvfs_disk *disk, disk_file *file, const void *bytes, size_t count, int64_t offset);
void disk_truncated(faultvfs_disk *disk, disk_file *file, int64_t size);
// `syncs_names`: the directory, too, which makes lasting what was created and deleted in it.
void disk_synced(faultvfs_disk *disk, disk_file *file, int syncs_names);
void disk_deleted(faultvfs_disk *disk, const char *path, int is_lasting);

// Applies a change to bytes that grow as needed.
void file_apply(unsigned char **bytes, size_t *count, const pending_change *change);
void file_put(
    unsigned char **bytes, size_t *count, const unsigned char *from, size_t length, int64_t offset);

// `malloc` that does not return NULL.
void *disk_memory(size_t size);
