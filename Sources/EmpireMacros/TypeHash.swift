// The hash of names and types: sdbm over Unicode scalars, in 32 bits. It is part of the file
// format.

/// The hash of a text.
func typeHash(_ text: String) -> UInt32 {
  text.unicodeScalars.reduce(0 as UInt32) { hash, scalar in
    scalar.value &+ (hash << 6) &+ (hash << 16) &- hash
  }
}
