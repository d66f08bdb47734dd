// What really happens: flatc writes objects with one schema and reads them with the other.

import Foundation
import Testing

/// Two versions of a schema.
struct MatrixPair {
  let old: MatrixSchema
  let new: MatrixSchema

  /// Why stored objects are not the same for both; nil if they are, as far as these objects show.
  ///
  /// - Parameter readings: What flatc has made of the objects, by direction.
  func disagreement(_ readings: [MatrixReading]) throws -> String? {
    if let reason = storageDisagreement() { return reason }
    // Another version is another table, so nothing is read across.
    if old.version != new.version { return nil }
    for reading in readings {
      let (writer, reader) = reading.isForward ? (old, new) : (new, old)
      let written = try MatrixReader(schema: writer).object(reading.written)
      guard let bytes = reading.read else { return "flatc cannot read an object" }
      do {
        let read = try MatrixReader(schema: reader).object(bytes)
        let comparison = MatrixComparison(from: writer, to: reader, isForward: reading.isForward)
        if let reason = comparison.difference(written, read, writer.root) {
          return (reading.isForward ? "" : "read by the old version: ") + reason
        }
      } catch let error as MatrixUnreadable {
        return error.reason
      }
    }
    return nil
  }

  private func storageDisagreement() -> String? {
    if old.entry(old.root).name != new.entry(new.root).name { return "another table" }
    if old.version == new.version, old.keys != new.keys { return "other key columns" }
    return nil
  }
}

/// One object, as the schema that wrote it reads it, and as the other one does.
struct MatrixReading {
  var isForward: Bool
  var written: Data
  /// nil if flatc failed.
  var read: Data?
}

/// Compares what was written with what is read.
struct MatrixComparison {
  let from: MatrixSchema
  let to: MatrixSchema
  /// From the old version to the new one.
  let isForward: Bool

  /// The first difference, but for those that a compatible change may make.
  func difference(_ written: MatrixValue, _ read: MatrixValue, _ type: Int) -> String? {
    guard case .object(let left) = written, case .object(let right) = read else {
      return written == read ? nil : "\(type): \(written) is \(read)"
    }
    let fields = Dictionary(uniqueKeysWithValues: to.fields(type).map { ($0.id, $0) })
    let isTable = from.tables.contains(type)
    for field in from.fields(type) {
      guard let other = fields[field.id] else {
        // What a newer version has appended is not known to an older one.
        if isForward || !isTable { return "'\(field.name)' is gone" }
        continue
      }
      var expected = left[field.id] ?? .nothing
      let standards = (
        MatrixReader(schema: from).standard(field), MatrixReader(schema: to).standard(other)
      )
      if isTable, expected == standards.0 {
        expected = standards.1
      }
      if let reason = difference(field, expected, right[field.id] ?? .nothing, standards.1) {
        return reason
      }
    }
    let known = Set(from.fields(type).map(\.id))
    for field in to.fields(type) where isForward && isTable && !known.contains(field.id) {
      let standard = MatrixReader(schema: to).standard(field)
      if right[field.id] != standard { return "'\(field.name)' is not its default" }
    }
    return nil
  }

  private func difference(
    _ field: MatrixSchema.Field, _ written: MatrixValue, _ read: MatrixValue,
    _ standard: MatrixValue
  ) -> String? {
    differs(written, read, field.kind, standard) ? "'\(field.name)': \(written) is \(read)" : nil
  }

  private func differs(
    _ written: MatrixValue, _ read: MatrixValue, _ kind: MatrixSchema.Kind, _ standard: MatrixValue
  ) -> Bool {
    switch (written, read) {
    case (.object, .object):
      guard case .type(let id) = kind else { return true }
      return difference(written, read, id) != nil
    case (.member(let left, let value), .member(let right, let other)):
      guard left == right, case .type(let union) = kind,
        let before = from.members(union).first(where: { $0.id == left }),
        let after = to.members(union).first(where: { $0.id == left }), before.type == after.type
      else { return true }
      return difference(value, other, before.type) != nil
    case (.list(let left), .list(let right)):
      guard left.count == right.count else { return true }
      let element: MatrixSchema.Kind
      switch kind {
      case .vector(let kind), .array(let kind, _): element = kind
      default: return true
      }
      return zip(left, right).contains { differs($0, $1, element, .unknown) }
    case (.value(let id), _):
      guard case .type(let type) = kind, !isForward,
        !to.values(type).contains(where: { $0.id == id })
      else { return written != read }
      // A value that only the newer version has reads as the default.
      return read != standard
    case (.flags(let left), .flags(let right)):
      guard case .type(let type) = kind else { return true }
      let known = Set(to.values(type).map(\.id))
      return (isForward ? left : left.intersection(known)) != right
    default: return written != read
    }
  }
}

/// Runs flatc over the objects of many pairs at once.
struct MatrixFlatc {
  let directory: String

  /// Writes the files of one pair: `old.fbs`, `new.fbs`, and the objects of both.
  func prepare(_ name: String, _ pair: MatrixPair, old: [String], new: [String]) throws {
    let folder = "\(directory)/\(name)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try pair.old.text.write(toFile: folder + "/old.fbs", atomically: false, encoding: .utf8)
    try pair.new.text.write(toFile: folder + "/new.fbs", atomically: false, encoding: .utf8)
    for (prefix, objects) in [("o", old), ("n", new)] {
      for (index, object) in objects.enumerated() {
        try object.write(
          toFile: "\(folder)/\(prefix)\(index).json", atomically: false, encoding: .utf8)
      }
    }
  }

  /// Reads everything that was prepared. flatc does not check what it reads and may crash on it, or
  /// try to print without end; what it does not print was not readable, tried once more by itself.
  func run() throws {
    let script = """
      ulimit -c 0; ulimit -t 5; ulimit -f 4096; ulimit -v 2000000
      read_all() { # schema, output, binaries
        schema=$1; out=$2; shift 2
        flatc -t --strict-json --defaults-json --raw-binary -o $out $schema -- "$@" ||
        for binary do
          [ -s $out/${binary%.bin}.json ] ||
          flatc -t --strict-json --defaults-json --raw-binary -o $out $schema -- $binary
        done
      }
      for folder in */; do
        ( cd $folder
          flatc -b old.fbs o*.json && read_all old.fbs own o*.bin && read_all new.fbs other o*.bin
          flatc -b new.fbs n*.json && read_all new.fbs own n*.bin && read_all old.fbs other n*.bin
        ) >$folder/log 2>&1
      done
      true
      """
    _ = try Flatc.run(["bash", "-c", script], in: directory)
  }

  /// What flatc has read for a pair, with `count` objects each way.
  func readings(_ name: String, old: Int, new: Int) throws -> [MatrixReading] {
    let folder = "\(directory)/\(name)"
    let files = FileManager.default
    return try (0..<old).map { ("o\($0).json", true) }.appending(
      (0..<new).map { ("n\($0).json", false) }
    )
    .map { file, isForward in
      let written = files.contents(atPath: "\(folder)/own/\(file)")
      let log = files.contents(atPath: "\(folder)/log").map { String(decoding: $0, as: UTF8.self) }
      return MatrixReading(
        isForward: isForward,
        written: try #require(written, "\(name)/\(file), flatc: \(log ?? "")"),
        read: files.contents(atPath: "\(folder)/other/\(file)"))
    }
  }
}

extension Array {
  fileprivate func appending(_ others: [Element]) -> [Element] { self + others }
}
