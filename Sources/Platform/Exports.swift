// The modules of this package import this instead of the C library and `Synchronization`.
//
// The C library's module has another name on each system. `Synchronization` is re-exported so that
// builds with ThreadSanitizer get the `Mutex` of this target: see SanitizedMutex.swift.

@_exported public import Synchronization

#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#else
  @_exported public import Darwin
#endif
