// The fuzz target for PackedSerialize: reading and writing values on bytes that libFuzzer makes,
// under AddressSanitizer.
//
// The first byte of an input chooses the kind of value, the rest, which is never aligned, are its
// bytes. What must hold, besides that nothing is read outside of the input and no memory is taken
// for what is not there:
//
//  - what is read, written and read again, is the same value, of the size that it claims;
//  - a key that is read is written as the same bytes, and two keys are in the order of their
//    values.

import PackedSerialize

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  guard size > 0 else { return 0 }
  Kind.all[Int(data[0]) % Kind.all.count].check(
    UnsafeRawBufferPointer(start: data + 1, count: size - 1))
  return 0
}
