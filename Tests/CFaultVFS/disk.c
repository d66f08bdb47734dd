// The disk: attached directories, counting and failing, and what is lasting of each file.
#include "disk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t disks_lock = PTHREAD_MUTEX_INITIALIZER;
static faultvfs_disk *disks;

void *disk_memory(size_t size) {
  void *memory = malloc(size ? size : 1);
  if (!memory) {
    fprintf(stderr, "CFaultVFS: no memory is left\n");
    abort();
  }
  return memory;
}

static char *copy(const char *text) {
  char *result = disk_memory(strlen(text) + 1);
  return strcpy(result, text);
}

// Attaching

faultvfs_disk *faultvfs_attach(const char *directory) {
  if (faultvfs_register() != SQLITE_OK) return NULL;
  // SQLite resolves links before it opens a file, so the directory's name has to be resolved, too.
  char *resolved = realpath(directory, NULL);
  if (!resolved) return NULL;
  faultvfs_disk *disk = disk_memory(sizeof *disk);
  memset(disk, 0, sizeof *disk);
  disk->users = 1;
  pthread_mutex_init(&disk->lock, NULL);
  disk->directory = disk_memory(strlen(resolved) + 2);
  sprintf(disk->directory, "%s/", resolved);
  free(resolved);
  pthread_mutex_lock(&disks_lock);
  disk->next = disks;
  disks = disk;
  pthread_mutex_unlock(&disks_lock);
  return disk;
}

static void forget_changes(disk_file *file) {
  while (file->first) {
    pending_change *change = file->first;
    file->first = change->next;
    free(change->bytes);
    free(change);
  }
  file->end = &file->first;
}

void faultvfs_detach(faultvfs_disk *disk) {
  pthread_mutex_lock(&disks_lock);
  faultvfs_disk **link = &disks;
  while (*link && *link != disk) link = &(*link)->next;
  if (*link) *link = disk->next;
  pthread_mutex_unlock(&disks_lock);
  disk_release(disk);
}

void disk_release(faultvfs_disk *disk) {
  pthread_mutex_lock(&disks_lock);
  int is_last = --disk->users == 0;
  pthread_mutex_unlock(&disks_lock);
  if (!is_last) return;
  while (disk->files) {
    disk_file *file = disk->files;
    disk->files = file->next;
    forget_changes(file);
    free(file->bytes);
    free(file->name);
    free(file);
  }
  pthread_mutex_destroy(&disk->lock);
  free(disk->directory);
  free(disk);
}

faultvfs_disk *faultvfs_find(const char *path) {
  if (!path) return NULL;
  pthread_mutex_lock(&disks_lock);
  faultvfs_disk *disk = disks;
  while (disk && strncmp(path, disk->directory, strlen(disk->directory)) != 0) disk = disk->next;
  if (disk) disk->users++;
  pthread_mutex_unlock(&disks_lock);
  return disk;
}

// Counting and failing

void faultvfs_arm(faultvfs_disk *disk, int kinds, int64_t number, faultvfs_mode mode) {
  pthread_mutex_lock(&disk->lock);
  disk->kinds = kinds;
  disk->number = number;
  disk->mode = mode;
  disk->calls = 0;
  disk->failures = 0;
  disk->is_off = 0;
  disk->failure[0] = 0;
  pthread_mutex_unlock(&disk->lock);
}

void faultvfs_disarm(faultvfs_disk *disk) {
  pthread_mutex_lock(&disk->lock);
  disk->number = 0;
  disk->is_off = 0;
  pthread_mutex_unlock(&disk->lock);
}

void faultvfs_lie_about_syncs(faultvfs_disk *disk, int lies) {
  pthread_mutex_lock(&disk->lock);
  disk->lies = lies;
  pthread_mutex_unlock(&disk->lock);
}

int64_t faultvfs_calls(faultvfs_disk *disk) {
  pthread_mutex_lock(&disk->lock);
  int64_t calls = disk->calls;
  pthread_mutex_unlock(&disk->lock);
  return calls;
}

int64_t faultvfs_failures(faultvfs_disk *disk) {
  pthread_mutex_lock(&disk->lock);
  int64_t failures = disk->failures;
  pthread_mutex_unlock(&disk->lock);
  return failures;
}

void faultvfs_describe_failure(faultvfs_disk *disk, char *text, int size) {
  pthread_mutex_lock(&disk->lock);
  snprintf(text, (size_t)size, "%s", disk->failure);
  pthread_mutex_unlock(&disk->lock);
}

call_fate disk_fate(
    faultvfs_disk *disk, int kind, const char *name, const char *verb, int64_t count, int64_t offset) {
  pthread_mutex_lock(&disk->lock);
  int fails = disk->is_off;
  if (disk->kinds & kind) {
    disk->calls += 1;
    if (disk->number > 0 && !fails) {
      fails = disk->mode == FAULTVFS_ONCE || disk->mode == FAULTVFS_POWER_OFF
                  ? disk->calls == disk->number
                  : disk->calls >= disk->number;
      // A full disk can still be read, and what is there be written again; here nothing is written any more.
      if (disk->mode == FAULTVFS_FULL && kind != FAULTVFS_WRITE) fails = 0;
    }
  }
  call_fate fate = call_passes;
  if (fails) {
    fate = call_fails;
    if (disk->failures == 0) {
      fate = disk->mode == FAULTVFS_POWER_OFF ? call_cut : call_fails_first;
      if (count > 0) {
        snprintf(
            disk->failure, sizeof disk->failure, "%s of %lld at %lld, %s", verb, (long long)count,
            (long long)offset, name);
      } else {
        snprintf(disk->failure, sizeof disk->failure, "%s, %s", verb, name);
      }
    }
    disk->failures += 1;
    if (disk->mode == FAULTVFS_POWER_OFF) disk->is_off = 1;
  }
  pthread_mutex_unlock(&disk->lock);
  return fate;
}

int disk_is_full(faultvfs_disk *disk) {
  pthread_mutex_lock(&disk->lock);
  int is_full = disk->mode == FAULTVFS_FULL;
  pthread_mutex_unlock(&disk->lock);
  return is_full;
}

// Files

// Called with the lock. The file of a path, which is noted if it is new.
static disk_file *known_file(faultvfs_disk *disk, const char *path) {
  const char *name = path + strlen(disk->directory);
  disk_file *file = disk->files;
  while (file && strcmp(file->name, name) != 0) file = file->next;
  if (file) return file;
  file = disk_memory(sizeof *file);
  memset(file, 0, sizeof *file);
  file->name = copy(name);
  file->end = &file->first;
  file->next = disk->files;
  disk->files = file;
  // What stood there before the directory was attached is lasting.
  FILE *stored = fopen(path, "rb");
  if (stored) {
    file->is_lasting = 1;
    unsigned char buffer[65536];
    size_t count;
    while ((count = fread(buffer, 1, sizeof buffer, stored)) > 0) {
      file_put(&file->bytes, &file->count, buffer, count, (int64_t)file->count);
    }
    fclose(stored);
  }
  return file;
}

disk_file *disk_open(faultvfs_disk *disk, const char *path) {
  pthread_mutex_lock(&disk->lock);
  disk_file *file = known_file(disk, path);
  pthread_mutex_unlock(&disk->lock);
  return file;
}

// Called with the lock.
static void add_change(
    faultvfs_disk *disk, disk_file *file, change_kind kind, const void *bytes, size_t count,
    int64_t offset) {
  pending_change *change = disk_memory(sizeof *change);
  change->kind = kind;
  change->number = ++disk->changes;
  change->offset = offset;
  change->count = count;
  change->bytes = NULL;
  if (count > 0) {
    change->bytes = disk_memory(count);
    memcpy(change->bytes, bytes, count);
  }
  change->next = NULL;
  *file->end = change;
  file->end = &change->next;
}

void disk_wrote(
    faultvfs_disk *disk, disk_file *file, const void *bytes, size_t count, int64_t offset) {
  pthread_mutex_lock(&disk->lock);
  add_change(disk, file, change_write, bytes, count, offset);
  pthread_mutex_unlock(&disk->lock);
}

void disk_truncated(faultvfs_disk *disk, disk_file *file, int64_t size) {
  pthread_mutex_lock(&disk->lock);
  add_change(disk, file, change_truncate, NULL, 0, size);
  pthread_mutex_unlock(&disk->lock);
}

// Called with the lock. Makes a deletion lasting; what was changed since belongs to a new file.
static void settle_deletion(disk_file *file) {
  pending_change *last = NULL;
  for (pending_change *change = file->first; change; change = change->next) {
    if (change->kind == change_delete) last = change;
  }
  if (!last) return;
  while (file->first != last) {
    pending_change *change = file->first;
    file->first = change->next;
    free(change->bytes);
    free(change);
  }
  file->first = last->next;
  if (!file->first) file->end = &file->first;
  free(last);
  file->count = 0;
  file->is_lasting = 0;
}

void disk_synced(faultvfs_disk *disk, disk_file *file, int syncs_names) {
  pthread_mutex_lock(&disk->lock);
  if (!disk->lies) {
    for (pending_change *change = file->first; change; change = change->next) {
      file_apply(&file->bytes, &file->count, change);
    }
    forget_changes(file);
    file->is_lasting = 1;
    for (disk_file *other = disk->files; syncs_names && other; other = other->next) {
      settle_deletion(other);
    }
  }
  pthread_mutex_unlock(&disk->lock);
}

void disk_deleted(faultvfs_disk *disk, const char *path, int is_lasting) {
  pthread_mutex_lock(&disk->lock);
  disk_file *file = known_file(disk, path);
  add_change(disk, file, change_delete, NULL, 0, 0);
  for (disk_file *other = disk->files; is_lasting && !disk->lies && other; other = other->next) {
    settle_deletion(other);
  }
  pthread_mutex_unlock(&disk->lock);
}

// Bytes

void file_put(
    unsigned char **bytes, size_t *count, const unsigned char *from, size_t length, int64_t offset) {
  size_t end = (size_t)offset + length;
  if (end > *count) {
    unsigned char *grown = realloc(*bytes, end);
    if (!grown) {
      fprintf(stderr, "CFaultVFS: no memory is left\n");
      abort();
    }
    memset(grown + *count, 0, end - *count);
    *bytes = grown;
    *count = end;
  }
  if (length > 0) memcpy(*bytes + offset, from, length);
}

void file_apply(unsigned char **bytes, size_t *count, const pending_change *change) {
  switch (change->kind) {
  case change_write:
    file_put(bytes, count, change->bytes, change->count, change->offset);
    break;
  case change_truncate:
    if ((size_t)change->offset < *count) {
      *count = (size_t)change->offset;
    } else {
      file_put(bytes, count, NULL, 0, change->offset);
    }
    break;
  case change_delete:
    *count = 0;
    break;
  }
}
