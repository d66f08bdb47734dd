// Results in files, for what a program shows before its database is open.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension FetchedResult {
  /// Writes the objects to a file, which ``init(contentsOf:)`` reads.
  ///
  ///     try dflat.fetch(for: Post.self).all(limit: 50).save(to: file)
  ///
  /// The file replaces another one at once: a reader sees the old one or the new one.
  /// - Parameter url: The file.
  /// - Throws: Foundation's error if the file cannot be written; `StorageError` with
  ///   `.invalidValue` if an object was made from values that do not fit their fields.
  public func save(to url: URL) throws {
    let rows = ContiguousArray(underlyingArray.lazy.map(\._row))
    try SavedRows.encode(rows, Element._schema).write(to: url, options: .atomic)
  }

  /// Reads the objects of a file that ``save(to:)`` has written, in the same order.
  ///
  /// No workspace is needed. The objects have no row id: transactions find them by their primary
  /// keys. The result belongs to no query; to observe it, fetch it from the workspace.
  ///
  /// The bytes are verified. The file may have been written by a program with an older or newer
  /// version of the schema, as long as the version stores the type in the same table.
  /// - Parameter url: The file.
  /// - Throws: ``SavedObjectsError`` if the file belongs to another type, or is damaged; Foundation's
  ///   error if it cannot be read.
  public init(contentsOf url: URL) throws {
    let data = try Data(contentsOf: url)
    let rows = try data.withUnsafeBytes { try SavedRows.decode($0, Element._schema) }
    self.init(rows.map { Element(_row: $0) })
  }
}
