// Values of silos come through everything that the tools do as they were: an empty collection stays
// empty, and a missing one stays missing.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteDflat
import Silo
import Testing

@testable import DflatTools

@PersistableValue(shape: "name:S labels:[S]? bytes:X? parts:[[I]?]")
struct Compartment: Hashable {
  var name: String
  var labels: [String]?
  var bytes: Data?
  var parts: [[Int]?] = []
}

@PersistableValue(shape: "empty:() list:([S]?) data:(X)")
enum Filling: Hashable {
  case empty
  case list([String]?)
  case data(Data)
}

@Persistable(
  version: 1, table: "shelf",
  shape: """
    id:I title:S texts:[S] bytes:X numbers:{I} words:[S:[S]?] maybeTexts:[S]? maybeData:X? \
    maybeNumbers:{I}? maybeWords:[S:[S]?]? maybeReals:[R]? nested:[[S]?]? datas:[X?]? \
    inner:Compartment maybeInner:Compartment? inners:[Compartment?]? byName:[S:Compartment]? \
    filling:Filling? fillings:[Filling]? note:S=none
    """)
struct Shelf: Identifiable, Hashable, Sendable {
  var id: Int
  var title: String
  var texts: [String] = []
  var bytes: Data
  var numbers: Set<Int> = []
  var words: [String: [String]?] = [:]
  var maybeTexts: [String]?
  var maybeData: Data?
  var maybeNumbers: Set<Int>?
  var maybeWords: [String: [String]?]?
  var maybeReals: [Double]?
  var nested: [[String]?]?
  var datas: [Data?]?
  var inner: Compartment
  var maybeInner: Compartment?
  var inners: [Compartment?]?
  var byName: [String: Compartment]?
  var filling: Filling?
  var fillings: [Filling]?
  var note = "none"
}

extension Shelf {
  /// One with empty collections in every place, one with none, one with elements, and one for each
  /// property that is nil or empty while the others are not.
  static var all: [Shelf] {
    let inner = Compartment(name: "", labels: [], bytes: Data(), parts: [nil, [], [1]])
    let none = Shelf(id: 0, title: "", bytes: Data(), inner: Compartment(name: ""))
    let empty = Shelf(
      id: 0, title: "", bytes: Data(), maybeTexts: [], maybeData: Data(), maybeNumbers: [],
      maybeWords: [:], maybeReals: [], nested: [], datas: [], inner: inner,
      maybeInner: Compartment(name: ""), inners: [], byName: [:],
      filling: .list([]), fillings: [], note: "")
    let full = Shelf(
      id: 0, title: "a", texts: [""], bytes: Data([0]), numbers: [0], words: ["": [], "b": nil],
      maybeTexts: [""], maybeData: Data([0]), maybeNumbers: [0], maybeWords: ["a": [], "b": nil],
      maybeReals: [-0.0, .infinity], nested: [nil, [], [""]], datas: [nil, Data(), Data([1])],
      inner: inner, maybeInner: inner, inners: [nil, Compartment(name: ""), inner],
      byName: ["a": Compartment(name: ""), "b": inner], filling: .data(Data()),
      fillings: [.empty, .list(nil), .list([]), .list([""]), .data(Data())])
    func cases<T>(_ property: WritableKeyPath<Shelf, T>) -> [Shelf] {
      [(none, empty), (none, full), (empty, none), (empty, full), (full, none), (full, empty)]
        .map { base, other in
          var shelf = base
          shelf[keyPath: property] = other[keyPath: property]
          return shelf
        }
    }
    let shelves =
      [none, empty, full] + cases(\.texts) + cases(\.bytes) + cases(\.numbers) + cases(\.words)
      + cases(\.maybeTexts) + cases(\.maybeData) + cases(\.maybeNumbers) + cases(\.maybeWords)
      + cases(\.maybeReals) + cases(\.nested) + cases(\.datas) + cases(\.inner)
      + cases(\.maybeInner) + cases(\.inners) + cases(\.byName) + cases(\.filling)
      + cases(\.fillings) + cases(\.note)
    return shelves.enumerated().map { place, shelf in
      var shelf = shelf
      shelf.id = place
      return shelf
    }
  }
}

@Suite("Values of silos in the tools")
struct SiloValueTests {
  /// A file with all shelves.
  private func withFile(_ body: (_ path: String, _ directory: String) async throws -> Void)
    async throws
  {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/shelves.db"
    let workspace = SQLiteWorkspace(filePath: path)
    try await Silos(in: workspace)[Shelf.self].save(Shelf.all)
    await workspace.shutdown()
    try await body(path, directory)
  }

  private func expectShelves(
    _ path: String, _ expected: [Shelf] = Shelf.all,
    _ location: Testing.SourceLocation = #_sourceLocation
  ) async throws {
    let workspace = SQLiteWorkspace(filePath: path)
    let shelves = Silos(in: workspace)[Shelf.self]
    for shelf in expected {
      let stored = try await shelves.load(shelf.id)
      #expect(stored == shelf, sourceLocation: location)
    }
    await workspace.shutdown()
  }

  @Test(
    "An export that is imported gives the same values, with the schema of the file or as text",
    arguments: DataFile.ExportFormat.allCases)
  func importing(format: DataFile.ExportFormat) async throws {
    try await withFile { path, directory in
      let file = try DataFile.open(path)
      let type = try file.type(named: "Shelf")
      var exported = Data()
      _ = try file.export(type, as: format) { exported.append($0) }
      let schema = "\(directory)/shelf.fbs"
      try type.schemaText().write(toFile: schema, atomically: true, encoding: .utf8)
      file.close()
      let new = "\(directory)/new.db"
      var job = try Import(into: new, type: "Shelf", schemas: [schema])
      job.format = format
      let report = try job.run(reading: portions(of: exported))
      #expect(report.problems.isEmpty && report.inserted == Shelf.all.count)
      try await expectShelves(new)
      var again = try Import(into: path, type: "Shelf")
      again.format = format
      #expect(try again.run(reading: portions(of: exported)).unchanged == Shelf.all.count)
      try await expectShelves(path)
    }
  }

  @Test("A copy has the same values, also over other ones")
  func copying() async throws {
    try await withFile { path, directory in
      let target = "\(directory)/copy.db"
      let workspace = SQLiteWorkspace(filePath: target)
      let others = Shelf.all.reversed().enumerated().map { place, shelf in
        var shelf = shelf
        shelf.id = place
        return shelf
      }
      try await Silos(in: workspace)[Shelf.self].save(others)
      await workspace.shutdown()
      let file = try DataFile.open(path)
      defer { file.close() }
      _ = try file.copy(to: target)
      try await expectShelves(target)
      _ = try file.copy(to: "\(directory)/new.db")
      try await expectShelves("\(directory)/new.db")
    }
  }

  @Test("An edit of one field leaves the others as they were")
  func editing() async throws {
    try await withFile { path, _ in
      let file = try DataFile.openForChanges(path)
      let type = try file.type(named: "Shelf")
      for shelf in Shelf.all {
        let stored = try #require(try file.object(of: type, key: ["\(shelf.id)"]))
        let json = String(decoding: try stored.json(), as: UTF8.self)
          .replacing(#/"title":"a?"/#, with: #""title":"edited""#)
        let draft = try file.draft(of: type, json: Data(json.utf8))
        #expect(draft.changes.map(\.name) == ["title"])
        try file.commit(draft, replacing: stored.version)
      }
      file.close()
      try await expectShelves(
        path,
        Shelf.all.map { shelf in
          var shelf = shelf
          shelf.title = "edited"
          return shelf
        })
    }
  }
}
