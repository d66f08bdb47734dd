// What the rooms of this package import instead of the C library and of `Synchronization`.
//
// The C library's module has another name on each system. `Synchronization` comes through here so
// that builds with ThreadSanitizer get the `Mutex` of this target: see SanitizedMutex.swift.

@_exported public import Synchronization

#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#else
  @_exported public import Darwin
#endif
