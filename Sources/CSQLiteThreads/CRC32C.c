// CRC-32C by the instructions of SSE 4.2 and of ARMv8, or by a table. All give the same value.

#include "CRC32C.h"

#include <string.h>

#if defined(__aarch64__) && defined(__linux__) && !defined(__ARM_FEATURE_CRC32)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#endif

// The remainders of the 16 values of four bits, with the reflected polynomial 0x82F63B78.
static const uint32_t remainders[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
};

uint32_t csqlite_crc32c_by_table(const void *bytes, size_t count) {
  const uint8_t *next = bytes;
  uint32_t crc = ~0u;
  for (; count > 0; count--) {
    crc ^= *next++;
    crc = (crc >> 4) ^ remainders[crc & 15];
    crc = (crc >> 4) ^ remainders[crc & 15];
  }
  return ~crc;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

// Rows differ in length. A branch that depends on the length is mispredicted for every other row,
// which costs more than the checksum. So the odd parts come first, are computed in any case, and
// used or not by a mask: only the end of the loop depends on the length.
__attribute__((target("sse4.2"))) static uint32_t byInstructions(const uint8_t *next, size_t count) {
  uint64_t crc = ~0u;
  if (count >= 32) {
    uint32_t half;
    uint64_t words[4];
    memcpy(&half, next, sizeof half);
    crc ^= (crc ^ _mm_crc32_u32((uint32_t)crc, half)) & -(uint64_t)(count >> 2 & 1);
    next += count & 4;
    memcpy(words, next, 8);
    crc ^= (crc ^ _mm_crc32_u64(crc, words[0])) & -(uint64_t)(count >> 3 & 1);
    next += count & 8;
    memcpy(words, next, 16);
    uint64_t both = _mm_crc32_u64(_mm_crc32_u64(crc, words[0]), words[1]);
    crc ^= (crc ^ both) & -(uint64_t)(count >> 4 & 1);
    next += count & 16;
    for (const uint8_t *end = next + (count & ~(size_t)31); next < end; next += 32) {
      memcpy(words, next, sizeof words);
      crc = _mm_crc32_u64(crc, words[0]);
      crc = _mm_crc32_u64(crc, words[1]);
      crc = _mm_crc32_u64(crc, words[2]);
      crc = _mm_crc32_u64(crc, words[3]);
    }
    count &= 3;
  }
  uint32_t rest = (uint32_t)crc;
  for (; count > 0; count--) rest = _mm_crc32_u8(rest, *next++);
  return ~rest;
}

static int hasInstructions(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__)

// The built-in functions need no header, whose declarations depend on the target of the file.
__attribute__((target("crc"))) static uint32_t byInstructions(const uint8_t *next, size_t count) {
  uint32_t crc = ~0u;
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, sizeof word);
    crc = __builtin_arm_crc32cd(crc, word);
  }
  for (; count > 0; count--) crc = __builtin_arm_crc32cb(crc, *next++);
  return ~crc;
}

static int hasInstructions(void) {
#if defined(__ARM_FEATURE_CRC32)
  return 1;
#elif defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
  return 0;
#endif
}

#else

static uint32_t byInstructions(const uint8_t *next, size_t count) {
  return csqlite_crc32c_by_table(next, count);
}

static int hasInstructions(void) { return 0; }

#endif

uint32_t csqlite_crc32c(const void *bytes, size_t count) {
  return hasInstructions() ? byInstructions(bytes, count) : csqlite_crc32c_by_table(bytes, count);
}
