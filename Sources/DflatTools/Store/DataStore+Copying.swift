// Copying the objects of a file or a database into another one, by their keys.

import Dflat
import Foundation
import Platform
import SQLiteDflat

/// What was copied of a type.
public struct CopiedType: Sendable, Encodable {
  /// The name of the type; `dictionary` for the dictionary.
  public let type: String
  /// How many objects the target did not have.
  public internal(set) var inserted = 0
  /// How many objects of the target got other values.
  public internal(set) var updated = 0
  /// How many objects the target had already, with the same values.
  public internal(set) var unchanged = 0

  init(type: String) { self.type = type }

  mutating func add(_ other: CopiedType) {
    inserted += other.inserted
    updated += other.updated
    unchanged += other.unchanged
  }

  mutating func add(_ change: BulkChange) {
    inserted += change.inserted
    updated += change.updated
    unchanged += change.unchanged
  }

  /// The number of objects of the source.
  public var objects: Int { inserted + updated + unchanged }
}

extension DataStore {
  /// Copies the objects of some types, and the dictionary, into a file; see
  /// ``copy(into:types:progress:)``.
  ///
  /// - Parameters:
  ///   - path: The other file. It is created if it is not there.
  ///   - names: The types; nil for all, and the dictionary.
  ///   - progress: Called after each portion, with the number of objects so far.
  /// - Returns: What was copied, in the order of the types.
  /// - Throws: As ``copy(into:types:progress:)``.
  public func copy(
    to path: String, types names: [String]? = nil, progress: (_ objects: Int) -> Void = { _ in }
  ) throws -> [CopiedType] {
    try copy(into: .file(path), types: names, progress: progress)
  }

  /// Copies the objects of some types, and the dictionary, into another file or database. Objects
  /// replace those with their keys; others stay. One state is copied, whatever is committed
  /// meanwhile, in portions that are transactions of the target.
  ///
  /// Objects keep what only a newer schema knows. The target builds its own indexes. Objects of the
  /// target may exchange unique values with each other.
  ///
  /// - Parameters:
  ///   - destination: The other file or database.
  ///   - names: The types; nil for all, and the dictionary.
  ///   - progress: Called after each portion, with the number of objects so far.
  /// - Returns: What was copied, in the order of the types.
  /// - Throws: ``ToolError`` if it is the same one, a type is not there, nothing is known of it but
  ///   its bytes, its key in the target has other fields, an object cannot be stored there because
  ///   another one has its unique value, or one of them cannot be read or written. What was copied
  ///   until then stays, and a second copy goes on.
  public func copy(
    into destination: StoreTarget, types names: [String]? = nil,
    progress: (_ objects: Int) -> Void = { _ in }
  ) throws -> [CopiedType] {
    let path = destination.path
    let wanted = try names?.map { try type(named: $0) } ?? types
    let sources = try wanted.map { ($0.name, try $0.requireEntity()) }
    if path == self.path {
      throw ToolError(
        .usage, "\(path) is the same \(destination.isOnServer ? "database" : "file")",
        advice: "name another one")
    }
    if destination.isThere, !destination.isOnServer, DataFile.areSame(self.path, path) {
      throw ToolError(.usage, "\(path) is the same file", advice: "name another one")
    }
    // Closed before the workspace of the target is opened.
    let others = try destination.types()
    let target = OpenTarget(destination)
    defer { target.close() }
    return try withToolErrors {
      try core.fetchWithinASnapshot { () throws in
        var copied: [CopiedType] = []
        func objects() -> Int { copied.reduce(0) { $0 + $1.objects } }
        func copy(_ source: EntitySchema, _ entity: EntitySchema, named name: String) throws {
          copied.append(CopiedType(type: name))
          let copy = TypeCopy(from: core, source, to: target, entity)
          do {
            try copy.run { portion in
              copied[copied.count - 1].add(portion)
              progress(objects())
            }
          } catch let error as StorageError { throw ToolError(error, endsCopyAfter: copied, path) }
        }
        for (name, source) in sources {
          let other = others.first { $0.table == source.table }?.entity
          try copy(source, try Self.schema(source, other, path), named: name)
        }
        if names == nil {
          try copy(DictionaryItem.schema, DictionaryItem.schema, named: "dictionary")
        }
        return copied.filter { $0.type != "dictionary" || $0.objects > 0 }
      }
    }
  }

  /// The schema with which the target's objects are written: the newer one of both.
  private static func schema(
    _ source: EntitySchema, _ other: EntitySchema?, _ path: String
  ) throws -> EntitySchema {
    guard let other else { return source }
    let keys = (source.primaryKey.map(\.path), other.primaryKey.map(\.path))
    if keys.0 != keys.1 {
      throw ToolError(
        .usage, "\(source.layout.name) has another primary key in \(path)",
        advice: "export the objects, and import them with the names of the other key")
    }
    return source.layout.slotCount > other.layout.slotCount ? source : other
  }
}

extension ToolError {
  /// An error of the storage that ends a copy.
  /// - Parameters:
  ///   - copied: What was copied until then. The last type has the error.
  ///   - path: The target.
  fileprivate init(_ error: StorageError, endsCopyAfter copied: [CopiedType], _ path: String) {
    var stored = copied.dropLast().map { "all of \($0.type)" }
    if let last = copied.last, last.objects > 0 {
      stored.append("\(last.objects) object\(last.objects == 1 ? "" : "s") of \(last.type)")
    }
    let state =
      stored.isEmpty ? "nothing is copied" : "copied are " + stored.joined(separator: ", ")
    guard error.cause == .alreadyExists else {
      let error = ToolError(error)
      self.init(error.kind, "\(error.message); \(state)", advice: error.advice)
      return
    }
    let key = error.key.map { " \($0.shortened)" } ?? ""
    self.init(
      .badData,
      "an object of \(copied.last?.type ?? "a type") has the unique value\(key), which another "
        + "object has in \(path); \(state)",
      advice: "change or remove that one, and copy again: what is copied stays")
  }
}

extension DataFile {
  /// Whether two paths lead to one file.
  static func areSame(_ first: String, _ second: String) -> Bool {
    var (one, other) = (stat(), stat())
    return stat(first, &one) == 0 && stat(second, &other) == 0 && one.st_dev == other.st_dev
      && one.st_ino == other.st_ino
  }
}
