// Values come back equal to what was saved, through their canonical representation.

import Dflat
import DflatTestSupport
import Foundation
import MemoryDflat
import Testing

@testable import Silo

struct RoundTripTests {
  /// The value that the stored bytes of a value are, verified as if they came from a file.
  private func again<V: Persistable>(_ value: V) throws -> V {
    let data = Canonical(value).toData()
    return try Canonical<V>(verifying: data).value()
  }

  @Test("A value of every type comes back equal, and equal values have equal bytes")
  func everything() throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 5000 : 200) {
        var value = Everything.random(using: &random)
        let result = try again(value)
        #expect(result == value)
        let bytes = Canonical(value).toData()
        // Sets and dictionaries that are filled in another order.
        value.words = Set(value.words.shuffled(using: &random))
        value.homes = Set(value.homes.shuffled(using: &random))
        value.counts = Dictionary(uniqueKeysWithValues: value.counts.shuffled(using: &random))
        #expect(Canonical(value).toData() == bytes)
      }
    }
  }

  @Test("NaN comes back as NaN, wherever it is")
  func nan() throws {
    var random = SeededGenerator(seed: 1)
    var value = Everything.random(using: &random)
    value.real = .nan
    value.double = -.nan
    value.ratio = .signalingNaN
    value.decimal = .nan
    value.date = Date(timeIntervalSinceReferenceDate: .nan)
    value.dates = [value.date]
    value.contents = .place(latitude: .nan, longitude: 0, name: nil)
    let result = try again(value)
    #expect(result.real.isNaN && result.double.isNaN && result.ratio.isNaN)
    #expect(result.decimal.isNaN && result.date.timeIntervalSinceReferenceDate.isNaN)
    #expect(result.dates.first?.timeIntervalSinceReferenceDate.isNaN == true)
    guard case .place(let latitude, 0, nil) = result.contents, latitude.isNaN else {
      Issue.record("\(result.contents)")
      return
    }
  }

  @Test("Enums of any kind come back equal, also as keys")
  func enums() throws {
    for value in [
      Enums(id: 1, counts: [.north: 1, .south: 2], level: .high, sign: .minus),
      Enums(id: 2, counts: [:], level: .low),
    ] {
      #expect(try again(value) == value)
    }
  }

  @Test("A value that was stored before properties were appended reads their defaults")
  func appendedDefaults() throws {
    let bytes = Canonical(Ungrown(id: 1)).toData()
    let grown = try Canonical<Grown>(verifying: bytes).value()
    #expect(grown == Grown(id: 1))
    #expect(grown.words == ["a", "b"] && grown.price == 2 && grown.data == Data([1, 2]))
    #expect(grown.home == Home() && grown.home.rooms == ["hall"] && grown.home.flat.floor == 1)
    let other = Grown(
      id: 2, price: 0, at: .distantFuture, data: Data(), words: [], counts: [:],
      home: Home(street: "s", city: "", rooms: [], flat: Flat(number: 1, floor: 0)))
    #expect(try again(other) == other)
  }

  @Test("A huge string and huge data come back equal")
  func huge() throws {
    var random = SeededGenerator(seed: 2)
    var value = Everything.random(using: &random)
    value.text = String(repeating: "é\0", count: 300_000)
    value.data = Data(repeating: 7, count: 2_000_000)
    let result = try again(value)
    #expect(result == value)
  }

  @Test("A value that is nested too deeply is refused, and the message says what to do")
  func depth() async throws {
    func nested(_ depth: Int) -> Contents {
      (0..<depth).reduce(.none) { contents, _ in .list([contents]) }
    }
    var random = SeededGenerator(seed: 3)
    var value = Everything.random(using: &random)
    value.contents = nested(20)
    let result = try again(value)
    #expect(result == value)
    for depth in [60, 5000] {
      value.contents = nested(depth)
      let values = Silos(.memory)[Everything.self]
      let deep = value
      let error = await #expect(throws: StorageError.self) { try await values.save(deep) }
      #expect(error?.cause == .invalidValue)
      #expect(error.map { "\($0)" }?.contains("nested deeper") == true)
      #expect(try await values.count() == 0)
    }
  }

  @Test("Each struct, each enum and the values of its case count as a level")
  func levels() async throws {
    func saves<V: Persistable>(_ value: V) async throws -> Bool {
      do { try await Silos(.memory)[V.self].save(value) } catch let error as StorageError {
        #expect(error.cause == .invalidValue)
        return false
      }
      #expect(try again(value)._rowBytes == value._rowBytes)
      return true
    }
    func nested(_ depth: Int) -> Chain {
      (1..<depth).reduce(Chain()) { chain, _ in Chain([chain]) }
    }
    func link(_ depth: Int) -> Link { (1..<depth).reduce(Link.end) { link, _ in .next(link) } }
    // With the value itself 60 levels.
    #expect(try await saves(Chained(id: 1, chain: nested(59))))
    #expect(try await !saves(Chained(id: 1, chain: nested(60))))
    #expect(try await saves(Linked(id: 1, link: link(30))))
    #expect(try await !saves(Linked(id: 1, link: link(31))))
    // An element that is a collection or an optional, and an entry of a dictionary.
    func lists(_ depth: Int) -> Lists {
      (1..<depth).reduce(Lists()) { lists, _ in Lists([[lists]]) }
    }
    #expect(try await saves(Listed(id: 1, lists: lists(30))))
    #expect(try await !saves(Listed(id: 1, lists: lists(31))))
  }

  @Test("Bytes that are no value are an error that names table, key and property")
  func unreadable() throws {
    // Another program's enum has more cases.
    let row = Canonical(Unknown(id: 7, priority: "urgent")).toData()
    let object = try Canonical<Known>(verifying: row)
    let error = #expect(throws: UnreadableValue.self) { try object.value() }
    #expect(error?.property == "priority" && error?.key == "7" && error?.table == "known_v1")
    let without = try Canonical<Known>(verifying: Canonical(Short(id: 8)).toData())
    #expect(throws: UnreadableValue.self) { try without.value() }
  }

  @Test("Any bytes that pass the verification are a value or an error")
  func damagedBytes() {
    withSeed { random in
      for _ in 0..<(isLongRun ? 20000 : 1000) {
        var data = Canonical(Everything.random(using: &random)).toData()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          data[Int.random(in: data.indices, using: &random)] = UInt8(
            truncatingIfNeeded: random.next())
        }
        if let object = try? Canonical<Everything>(verifying: data) { _ = try? object.value() }
      }
    }
  }
}

@PersistableValue(shape: "north:() south:()")
private enum Direction { case north, south }

@PersistableValue(shape: "low:() high:()")
private enum Level: Double { case low = 0.5, high = 1.5 }

@PersistableValue(shape: "plus:() minus:()")
private enum Sign: Character { case plus = "+", minus = "-" }

@Persistable(version: 1, table: "enums", shape: "id:I counts:[Direction:I] level:Level sign:Sign?")
private struct Enums: Identifiable, Equatable {
  var id: Int
  var counts: [Direction: Int]
  var level: Level
  var sign: Sign?
}

@Persistable(version: 1, table: "grown", shape: "id:I")
private struct Ungrown: Identifiable {
  var id: Int
}

@PersistableValue(shape: "street:S= city:S=Rome rooms:[S] flat:Flat")
private struct Home: Equatable {
  var street = ""
  var city = "Rome"
  var rooms: [String] = ["hall"]
  var flat: Flat = .init()
}

@PersistableValue(shape: "number:I? floor:I=1")
private struct Flat: Equatable {
  var number: Int?
  var floor = 1
}

@Persistable(
  version: 1, table: "grown", shape: "id:I price:N at:D data:X words:[S] counts:[S:I] home:Home")
private struct Grown: Identifiable, Equatable {
  var id: Int
  var price: Decimal = 2
  var at: Date = Date(timeIntervalSince1970: -5)
  var data: Data = Data([1, 2])
  var words: [String] = ["a", "b"]
  var counts: [String: Int] = ["a": 1]
  var home: Home = Home()
}

@Persistable(version: 1, table: "known", shape: "id:I priority:Priority")
private struct Known: Identifiable {
  var id: Int
  var priority: Priority
}

@Persistable(version: 1, table: "unknown", shape: "id:I priority:S")
private struct Unknown: Identifiable {
  var id: Int
  var priority: String
}

@Persistable(version: 1, table: "short", shape: "id:I")
private struct Short: Identifiable {
  var id: Int
}

@PersistableValue(shape: "chains:[Chain]")
private struct Chain {
  var chains: [Chain]
  init(_ chains: [Chain] = []) { self.chains = chains }
}

@PersistableValue(shape: "lists:[[Lists]]")
private struct Lists {
  var lists: [[Lists]]
  init(_ lists: [[Lists]] = []) { self.lists = lists }
}

@PersistableValue(shape: "end:() next:(Link)")
private indirect enum Link { case end, next(Link) }

@Persistable(version: 1, table: "chained", shape: "id:I chain:Chain")
private struct Chained: Identifiable {
  var id: Int
  var chain: Chain
}

@Persistable(version: 1, table: "linked", shape: "id:I link:Link")
private struct Linked: Identifiable {
  var id: Int
  var link: Link
}

@Persistable(version: 1, table: "listed", shape: "id:I lists:Lists")
private struct Listed: Identifiable {
  var id: Int
  var lists: Lists
}

extension Persistable {
  fileprivate var _rowBytes: Data { Canonical(self).toData() }
}
