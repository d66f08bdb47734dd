// The types with their counts.

import DflatTools
import Foundation
import Platform

/// All that the list of types shows.
struct TypesAnswer: Encodable {
  struct TypeAnswer: Encodable {
    let name: String
    let fullName: String
    let table: String
    let rows: Int
    /// Whether they were counted; otherwise there are at most so many.
    let rowsAreCounted: Bool
    let names: String
    let problem: String?
    let fields: [StoredField]
    let keyFields: [String]
    let indexes: [IndexInformation]
    let schema: String?
  }

  let path: String
  let version: String
  let allowsChanges: Bool
  let types: [TypeAnswer]
}

/// How many objects a type has.
struct CountAnswer: Encodable {
  let table: String
  let rows: Int
}

/// What is kept of the last look at the store, so that no request counts again what another one has
/// just counted.
final class Counts: Sendable {
  private struct State {
    var information: (any StoreInformation)?
    var end = ContinuousClock.now
    /// How often it was forgotten.
    var forgotten = 0
  }

  private static let time = Duration.milliseconds(250)
  private let state = Mutex(State())

  func information(_ store: any DataStore) throws -> any StoreInformation {
    let now = ContinuousClock.now
    let (known, forgotten) = state.withLock {
      (now < $0.end ? $0.information : nil, $0.forgotten)
    }
    if let known { return known }
    let information = try store.information(countingAll: false)
    // What takes long to find is kept for longer.
    let end = max(Self.time, now.duration(to: .now) * 10)
    state.withLock { state in
      // What was read while something was committed may be of before.
      if state.forgotten != forgotten { return }
      state.information = information
      state.end = .now + end
    }
    return information
  }

  /// Forgets it: something was committed.
  func forget() {
    state.withLock { state in
      state.information = nil
      state.forgotten += 1
    }
  }
}

extension Answers {
  func types() throws -> TypesAnswer {
    let types = store.types
    // A workspace may have stored nothing yet.
    let information = types.isEmpty ? nil : try counts.information(store)
    return TypesAnswer(
      path: store.path, version: DataFile.libraryVersion, allowsChanges: allowsChanges,
      types: types.map { type in
        let found = information?.types.first { $0.table == type.table }
        return TypesAnswer.TypeAnswer(
          name: type.name, fullName: type.fullName, table: type.table, rows: found?.rows ?? 0,
          rowsAreCounted: found?.rowsAreCounted ?? false, names: found?.names ?? "kept",
          problem: type.problem, fields: type.fields, keyFields: type.keyFields,
          indexes: found?.indexes ?? [], schema: try? type.schemaText())
      })
  }

  func count(_ question: Question) throws -> CountAnswer {
    let type = try type(question)
    return CountAnswer(table: type.table, rows: try store.count("`\(type.table)`"))
  }
}
