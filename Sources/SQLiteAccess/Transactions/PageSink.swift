// PageSink: where SQLite writes a copy of a database page by page, in place of a file.
//
//  - A virtual file system (https://www.sqlite.org/vfs.html) is registered for one copy. It opens
//    one file, whose reads and writes go to the sink.
//  - The copy has no journal and takes no locks: no other program can open it. If it fails, it is
//    of no use, and its sink is thrown away.

import CSQLite
import Platform

/// The content of a database that is being written.
package protocol PageSink: AnyObject {
  /// The size in bytes.
  var size: Int { get }
  /// Gives bytes that were written before.
  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws
  /// Takes one page.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws
  /// Cuts the content.
  func truncate(to size: Int) throws
}

extension Connection {
  /// Copies the database into a sink; see ``backup(to:pagesPerStep:progress:)-(Connection,_,_)``.
  /// - Throws: ``SQLiteError``, and the errors of the sink.
  package func backup(
    into sink: any PageSink, pagesPerStep: Int? = nil,
    progress: (_ remaining: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws {
    let system = try SinkFileSystem(sink)
    defer { system.unregister() }
    do {
      let target = try Connection(onlyFileOf: system.name)
      try target.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
      try backup(to: target, pagesPerStep: pagesPerStep, progress: progress)
      try target.close()
    } catch {
      throw system.failure ?? error
    }
  }
}

/// A file system with one file.
private final class SinkFileSystem {
  let name: String
  let sink: any PageSink
  /// What the sink has thrown; SQLite reports only that a call has failed.
  var failure: (any Error)?
  private let entry: UnsafeMutablePointer<sqlite3_vfs>
  private let entryName: UnsafeMutablePointer<CChar>

  init(_ sink: any PageSink) throws(SQLiteError) {
    self.sink = sink
    entry = .allocate(capacity: 1)
    name = "dflat-pages-\(UInt(bitPattern: entry))"
    entryName = strdup(name)
    guard let system = sqlite3_vfs_find(nil) else {
      throw SQLiteError(code: .misuse, message: "this SQLite has no file system", path: name)
    }
    // Time, random numbers and pauses are those of the usual one.
    var copy = system.pointee
    copy.pNext = nil
    copy.zName = UnsafePointer(entryName)
    copy.szOsFile = Int32(MemoryLayout<SinkFile>.size)
    copy.pAppData = Unmanaged.passUnretained(self).toOpaque()
    copy.xOpen = { entry, _, file, flags, outFlags in
      guard let file, let system = entry?.pointee.pAppData else { return SQLITE_CANTOPEN }
      // SQLite closes a file that has methods, also if it could not be opened.
      file.pointee.pMethods = nil
      if flags & SQLITE_OPEN_MAIN_DB == 0 { return SQLITE_CANTOPEN }
      UnsafeMutableRawPointer(file).assumingMemoryBound(to: SinkFile.self).pointee = SinkFile(
        base: sqlite3_file(pMethods: UnsafePointer(SinkFile.methods)), system: system)
      outFlags?.pointee = flags
      return SQLITE_OK
    }
    copy.xDelete = { _, _, _ in SQLITE_OK }
    copy.xAccess = { _, _, _, result in
      result?.pointee = 0
      return SQLITE_OK
    }
    copy.xFullPathname = { _, path, capacity, result in
      guard let path, let result, strlen(path) < Int(capacity) else { return SQLITE_CANTOPEN }
      strcpy(result, path)
      return SQLITE_OK
    }
    entry.initialize(to: copy)
    let result = sqlite3_vfs_register(entry, 0)
    if result != SQLITE_OK {
      throw SQLiteError(code: .error, message: "no file system can be registered", path: name)
    }
  }

  func unregister() { sqlite3_vfs_unregister(entry) }

  deinit {
    entry.deallocate()
    free(entryName)
  }

  /// Calls the sink, and keeps what it throws.
  func call(_ failureCode: Int32, _ body: (any PageSink) throws -> Void) -> Int32 {
    do {
      try body(sink)
      return SQLITE_OK
    } catch {
      if failure == nil { failure = error }
      return failureCode
    }
  }
}

/// Result codes that are macros with operators in SQLite's header.
private enum FileFault {
  static let read = SQLITE_IOERR | 1 << 8
  static let shortRead = SQLITE_IOERR | 2 << 8
  static let write = SQLITE_IOERR | 3 << 8
  static let truncate = SQLITE_IOERR | 6 << 8
}

/// The open file, as SQLite has it.
private struct SinkFile {
  var base: sqlite3_file
  var system: UnsafeMutableRawPointer

  static func system(_ file: UnsafeMutablePointer<sqlite3_file>?) -> SinkFileSystem {
    let file = UnsafeMutableRawPointer(file!).assumingMemoryBound(to: SinkFile.self)
    return Unmanaged<SinkFileSystem>.fromOpaque(file.pointee.system).takeUnretainedValue()
  }

  /// Unchecked, since SQLite wants a pointer: it is written once, before any use, and never
  /// changed.
  nonisolated(unsafe) static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
    var methods = sqlite3_io_methods()
    methods.iVersion = 1
    methods.xClose = { _ in SQLITE_OK }
    methods.xRead = { file, bytes, count, offset in
      let target = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
      let system = SinkFile.system(file)
      let available = max(0, min(Int(count), system.sink.size - Int(offset)))
      let result = system.call(FileFault.read) {
        if available > 0 {
          try $0.read(into: .init(rebasing: target[..<available]), at: Int(offset))
        }
      }
      if result != SQLITE_OK || available == count { return result }
      // SQLite expects zeros behind the end.
      UnsafeMutableRawBufferPointer(rebasing: target[available...]).initializeMemory(
        as: UInt8.self, repeating: 0)
      return FileFault.shortRead
    }
    methods.xWrite = { file, bytes, count, offset in
      SinkFile.system(file).call(FileFault.write) {
        try $0.write(
          UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: Int(offset))
      }
    }
    methods.xTruncate = { file, size in
      SinkFile.system(file).call(FileFault.truncate) { try $0.truncate(to: Int(size)) }
    }
    methods.xSync = { _, _ in SQLITE_OK }
    methods.xFileSize = { file, size in
      size?.pointee = sqlite3_int64(SinkFile.system(file).sink.size)
      return SQLITE_OK
    }
    methods.xLock = { _, _ in SQLITE_OK }
    methods.xUnlock = { _, _ in SQLITE_OK }
    methods.xCheckReservedLock = { _, isReserved in
      isReserved?.pointee = 0
      return SQLITE_OK
    }
    methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    methods.xSectorSize = { _ in 0 }
    methods.xDeviceCharacteristics = { _ in 0 }
    let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    pointer.initialize(to: methods)
    return pointer
  }()
}
