// CRC-32C (Castagnoli): the checksum of iSCSI, SCTP, ext4 and others (RFC 3720, appendix B.4).
#pragma once

#include <stddef.h>
#include <stdint.h>

// The CRC-32C of some bytes, by the processor's own instructions where it has them.
uint32_t csqlite_crc32c(const void *bytes, size_t count);

// The same by a table, which every processor can do. For tests.
uint32_t csqlite_crc32c_by_table(const void *bytes, size_t count);
