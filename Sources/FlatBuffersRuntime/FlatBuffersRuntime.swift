// FlatBuffersRuntime: the FlatBuffers wire format, without schemas and without storage.
//
// A buffer is read in place and written back to front:
//
//   [size: u32]? [root: uoffset] [identifier: 4 bytes]? ... [vtable] [table] ... [strings, vectors]
//
//  - table:  soffset to its vtable (vtable = table - soffset), then its fields inline;
//  - vtable: u16 own size, u16 size of the table, then one u16 per slot: the field's distance from
//            the table, 0 when absent. A field is identified by its slot's position in the
//            vtable, 4 + 2 * slot;
//  - vector: u32 count, then the elements; a string is a vector of bytes followed by a NUL;
//  - uoffset: u32, the distance from itself forward to its target. Never 0; 0 reads as absent;
//  - struct: its members at fixed distances, no header.
//
// Invariants of the whole module:
//
//  - every read is checked against the buffer's end, so untrusted bytes may be read: a value that
//    does not fit reads as absent, and nothing outside the buffer is accessed;
//  - neither the buffer nor its parts need be aligned in memory;
//  - numbers are little endian, in the buffer and in the machine. Big-endian machines are rejected
//    below.

#if _endian(big)
  #error("FlatBuffersRuntime reads little-endian numbers in place; this machine is big endian.")
#endif

/// The largest finished buffer, in bytes: 2 GiB - 1, because a table's distance to its vtable is
/// signed.
public let flatBufferMaximumSize = Int(Int32.max)

/// Stops the program with a message about a programming error, in optimised builds as well.
@usableFromInline
@inline(never)
func misuse(_ message: StaticString) -> Never {
  fatalError("FlatBuffersRuntime: \(message)")
}
