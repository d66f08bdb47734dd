// The image: what a power loss leaves of each file.
//
// A file begins with its lasting bytes. Of the changes after them a survival mode picks some, by sectors: a disk writes a
// sector wholly or not at all, in any order, until a sync is done. A name that was deleted and made anew belongs to the old
// file until the deletion has reached the disk.
#include "disk.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// SplitMix64.
static uint64_t draw(uint64_t *state) {
  uint64_t bits = (*state += 0x9E3779B97F4A7C15u);
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

typedef struct {
  faultvfs_survival survival;
  uint64_t random;
  int64_t cut;  // the number of the change at which the power went
} choice;

static int survives(choice *choice, const pending_change *change) {
  switch (choice->survival) {
  case FAULTVFS_DROPPED: return 0;
  case FAULTVFS_KEPT: return 1;
  case FAULTVFS_CUT: return change->number < choice->cut;
  case FAULTVFS_SCATTERED: return (int)(draw(&choice->random) & 1);
  }
  return 0;
}

// The sectors of one write. Returns whether any is on the disk.
static int put_sectors(
    choice *choice, const pending_change *change, unsigned char **bytes, size_t *count) {
  int any = 0;
  int64_t at = change->offset;
  int64_t end = change->offset + (int64_t)change->count;
  int is_torn = choice->survival == FAULTVFS_CUT && change->number == choice->cut;
  int64_t last = is_torn ? at + (int64_t)(draw(&choice->random) % (change->count + 1)) : end;
  while (at < end) {
    int64_t next = (at / FAULTVFS_SECTOR + 1) * FAULTVFS_SECTOR;
    if (next > end) next = end;
    if (is_torn ? next <= last : survives(choice, change)) {
      file_put(bytes, count, change->bytes + (at - change->offset), (size_t)(next - at), at);
      any = 1;
    }
    at = next;
  }
  return any;
}

static int write_file(const char *directory, const disk_file *file, choice *choice) {
  unsigned char *bytes = disk_memory(file->count);
  size_t count = file->count;
  if (count > 0) memcpy(bytes, file->bytes, count);
  int exists = file->is_lasting;
  for (const pending_change *change = file->first; change; change = change->next) {
    if (change->kind == change_write) {
      if (put_sectors(choice, change, &bytes, &count)) exists = 1;
    } else if (survives(choice, change)) {
      file_apply(&bytes, &count, change);
      exists = change->kind != change_delete;
    } else if (change->kind == change_delete) {
      break;
    }
  }
  int result = 0;
  if (exists) {
    size_t size = strlen(directory) + strlen(file->name) + 2;
    char *path = disk_memory(size);
    snprintf(path, size, "%s/%s", directory, file->name);
    FILE *output = fopen(path, "wb");
    if (!output) {
      result = errno;
    } else {
      if (fwrite(bytes, 1, count, output) != count) result = errno;
      if (fclose(output) != 0 && result == 0) result = errno;
    }
    free(path);
  }
  free(bytes);
  return result;
}

int faultvfs_write_image(
    faultvfs_disk *disk, const char *directory, faultvfs_survival survival, uint64_t seed) {
  pthread_mutex_lock(&disk->lock);
  choice choice = {survival, seed, 0};
  int64_t first = INT64_MAX;
  for (disk_file *file = disk->files; file; file = file->next) {
    if (file->first && file->first->number < first) first = file->first->number;
  }
  if (first <= disk->changes) {
    choice.cut = first + (int64_t)(draw(&choice.random) % (uint64_t)(disk->changes - first + 1));
  }
  int result = 0;
  for (disk_file *file = disk->files; file && result == 0; file = file->next) {
    result = write_file(directory, file, &choice);
  }
  pthread_mutex_unlock(&disk->lock);
  return result;
}
