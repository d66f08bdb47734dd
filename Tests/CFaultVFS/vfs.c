// The virtual file system: SQLite's calls, each of which asks the disk whether it has to fail and tells it what was changed.
#include "disk.h"
#include <errno.h>
#include <string.h>

typedef struct {
  sqlite3_file base;
  faultvfs_disk *disk;
  disk_file *file;
  sqlite3_file *real;  // the system's, behind this one in memory
  int is_new;          // a log or journal that was created and not synced yet
} fault_file;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs fault_vfs;

static fault_file *as_fault(sqlite3_file *file) { return (fault_file *)file; }

static call_fate fails(
    fault_file *f, int kind, const char *verb, int64_t count, int64_t offset) {
  return disk_fate(f->disk, kind, f->file->name, verb, count, offset);
}

// Files

static int file_close(sqlite3_file *file) {
  fault_file *f = as_fault(file);
  int result = f->real->pMethods ? f->real->pMethods->xClose(f->real) : SQLITE_OK;
  disk_release(f->disk);
  return result;
}

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  fault_file *f = as_fault(file);
  if (fails(f, FAULTVFS_READ, "read", count, offset)) return SQLITE_IOERR_READ;
  return f->real->pMethods->xRead(f->real, bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  fault_file *f = as_fault(file);
  int result;
  switch (fails(f, FAULTVFS_WRITE, "write", count, offset)) {
  case call_passes:
    result = f->real->pMethods->xWrite(f->real, bytes, count, offset);
    if (result == SQLITE_OK) disk_wrote(f->disk, f->file, bytes, (size_t)count, offset);
    return result;
  case call_fails_first:
    // A write that fails may have written a part.
    result = f->real->pMethods->xWrite(f->real, bytes, count / 2, offset);
    if (result == SQLITE_OK) disk_wrote(f->disk, f->file, bytes, (size_t)count / 2, offset);
    break;
  case call_cut:
    // Any part of it may be found afterwards; the image picks one.
    disk_wrote(f->disk, f->file, bytes, (size_t)count, offset);
    break;
  case call_fails: break;
  }
  return disk_is_full(f->disk) ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  fault_file *f = as_fault(file);
  if (fails(f, FAULTVFS_TRUNCATE, "truncate", 0, 0)) return SQLITE_IOERR_TRUNCATE;
  int result = f->real->pMethods->xTruncate(f->real, size);
  if (result == SQLITE_OK) disk_truncated(f->disk, f->file, size);
  return result;
}

static int file_sync(sqlite3_file *file, int flags) {
  fault_file *f = as_fault(file);
  (void)flags;
  if (fails(f, FAULTVFS_SYNC, "sync", 0, 0)) return SQLITE_IOERR_FSYNC;
  // The system's own file system syncs the directory with the first sync of a new log or journal.
  disk_synced(f->disk, f->file, f->is_new);
  f->is_new = 0;
  return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  fault_file *f = as_fault(file);
  if (fails(f, FAULTVFS_SIZE, "size", 0, 0)) return SQLITE_IOERR_FSTAT;
  return f->real->pMethods->xFileSize(f->real, size);
}

static int file_lock(sqlite3_file *file, int level) {
  fault_file *f = as_fault(file);
  if (fails(f, FAULTVFS_LOCK, "lock", 0, 0)) return SQLITE_IOERR_LOCK;
  return f->real->pMethods->xLock(f->real, level);
}

static int file_unlock(sqlite3_file *file, int level) {
  fault_file *f = as_fault(file);
  return f->real->pMethods->xUnlock(f->real, level);
}

static int file_check_lock(sqlite3_file *file, int *is_reserved) {
  fault_file *f = as_fault(file);
  if (fails(f, FAULTVFS_LOCK, "look at the lock", 0, 0)) return SQLITE_IOERR_CHECKRESERVEDLOCK;
  return f->real->pMethods->xCheckReservedLock(f->real, is_reserved);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
  fault_file *f = as_fault(file);
  return f->real->pMethods->xFileControl(f->real, operation, argument);
}

static int file_sector_size(sqlite3_file *file) {
  fault_file *f = as_fault(file);
  return f->real->pMethods->xSectorSize(f->real);
}

static int file_characteristics(sqlite3_file *file) {
  fault_file *f = as_fault(file);
  return f->real->pMethods->xDeviceCharacteristics(f->real);
}

static int file_map(sqlite3_file *file, int region, int size, int extend, void volatile **memory) {
  fault_file *f = as_fault(file);
  if (fails(f, FAULTVFS_SHARED_MEMORY, "map shared memory", 0, 0)) return SQLITE_IOERR_SHMMAP;
  return f->real->pMethods->xShmMap(f->real, region, size, extend, memory);
}

static int file_lock_memory(sqlite3_file *file, int offset, int count, int flags) {
  fault_file *f = as_fault(file);
  if ((flags & SQLITE_SHM_LOCK) &&
      fails(f, FAULTVFS_SHARED_MEMORY, "lock shared memory", 0, 0)) {
    return SQLITE_IOERR_SHMLOCK;
  }
  return f->real->pMethods->xShmLock(f->real, offset, count, flags);
}

static void file_memory_barrier(sqlite3_file *file) {
  fault_file *f = as_fault(file);
  f->real->pMethods->xShmBarrier(f->real);
}

static int file_unmap(sqlite3_file *file, int deletes) {
  fault_file *f = as_fault(file);
  return f->real->pMethods->xShmUnmap(f->real, deletes);
}

// Version 2 has shared memory and no memory-mapped reading, so every read of a file passes here.
static const sqlite3_io_methods methods = {
    2,
    file_close,
    file_read,
    file_write,
    file_truncate,
    file_sync,
    file_size,
    file_lock,
    file_unlock,
    file_check_lock,
    file_control,
    file_sector_size,
    file_characteristics,
    file_map,
    file_lock_memory,
    file_memory_barrier,
    file_unmap,
    NULL,
    NULL,
};

// The file system

static int vfs_open(
    sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file, int flags, int *out_flags) {
  (void)vfs;
  faultvfs_disk *disk = faultvfs_find(path);
  if (!disk) return real_vfs->xOpen(real_vfs, path, file, flags, out_flags);
  fault_file *f = as_fault(file);
  memset(f, 0, sizeof *f);
  if (disk_fate(disk, FAULTVFS_OPEN, path + strlen(disk->directory), "open", 0, 0)) {
    // What is left from an earlier call may say that there is no such file.
    errno = EIO;
    disk_release(disk);
    return SQLITE_CANTOPEN;
  }
  f->disk = disk;
  f->file = disk_open(disk, path);
  f->real = (sqlite3_file *)(f + 1);
  int exists = 0;
  int result = real_vfs->xAccess(real_vfs, path, SQLITE_ACCESS_EXISTS, &exists);
  if (result == SQLITE_OK) {
    f->is_new = !exists && (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL));
    result = real_vfs->xOpen(real_vfs, path, f->real, flags, out_flags);
  }
  // SQLite closes a file only if it has methods.
  if (result == SQLITE_OK) f->base.pMethods = &methods; else disk_release(disk);
  return result;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_directory) {
  (void)vfs;
  faultvfs_disk *disk = faultvfs_find(path);
  if (!disk) return real_vfs->xDelete(real_vfs, path, sync_directory);
  int result = SQLITE_IOERR_DELETE;
  if (!disk_fate(disk, FAULTVFS_DELETE, path + strlen(disk->directory), "delete", 0, 0)) {
    result = real_vfs->xDelete(real_vfs, path, 0);
    if (result == SQLITE_OK) disk_deleted(disk, path, sync_directory);
  }
  disk_release(disk);
  return result;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *answer) {
  (void)vfs;
  faultvfs_disk *disk = faultvfs_find(path);
  int fails = disk &&
      disk_fate(disk, FAULTVFS_ACCESS, path + strlen(disk->directory), "look for", 0, 0);
  if (disk) disk_release(disk);
  if (fails) return SQLITE_IOERR_ACCESS;
  return real_vfs->xAccess(real_vfs, path, flags, answer);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registration = SQLITE_ERROR;

static void register_once(void) {
  real_vfs = sqlite3_vfs_find(NULL);
  if (!real_vfs) return;
  // Everything that is not replaced is the system's own, its private data included.
  fault_vfs = *real_vfs;
  fault_vfs.pNext = NULL;
  fault_vfs.zName = "fault";
  fault_vfs.szOsFile = (int)sizeof(fault_file) + real_vfs->szOsFile;
  fault_vfs.xOpen = vfs_open;
  fault_vfs.xDelete = vfs_delete;
  fault_vfs.xAccess = vfs_access;
  registration = sqlite3_vfs_register(&fault_vfs, 1);
}

int faultvfs_register(void) {
  pthread_once(&once, register_once);
  return registration;
}
