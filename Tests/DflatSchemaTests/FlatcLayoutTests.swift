// Offsets, sizes and defaults, compared with flatc's for the same schema.

import DflatSchema
import Foundation
import SeededRandom
import Testing

@Suite("Layouts agree with flatc")
struct FlatcLayoutTests {
  /// Random structs, each with all its prefixes: the prefixes' sizes determine the offsets of the
  /// fields.
  @Test("Sizes and alignments of random structs", arguments: [testSeed()])
  func structs(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var text = "enum E: short { A }\n"
    var names: [String] = []
    for index in 0..<60 {
      var fields: [String] = []
      for field in 0..<Int.random(in: 1...5, using: &random) {
        var choices = ScalarType.allCases.map(\.rawValue) + ["E", "E"]
        if let name = names.randomElement(using: &random) { choices += [name, name, name, name] }
        let type = choices[Int.random(in: 0..<choices.count, using: &random)]
        let count = Int.random(in: 1...4, using: &random)
        fields.append("f\(field): " + (count == 1 ? "[\(type):3];" : "\(type);"))
      }
      for prefix in 1...fields.count {
        text += "struct S\(index)_\(prefix) { \(fields.prefix(prefix).joined(separator: " ")) }\n"
        names.append("S\(index)_\(prefix)")
      }
      text += "struct F\(index) (force_align: 16) { s: S\(index)_1; }\n"
      names.append("F\(index)")
    }
    let schema = try schema(text)
    let cpp = try Flatc.cpp(text)
    let sizes = matches(of: /FLATBUFFERS_STRUCT_END\((\w+), (\d+)\)/, in: cpp)
    let alignments = matches(of: /FLATBUFFERS_MANUALLY_ALIGNED_STRUCT\((\d+)\) (\w+)/, in: cpp)
    #expect(sizes.count == names.count && alignments.count == names.count, "DFLAT_SEED=\(seed)")
    for (name, size) in sizes {
      #expect(try schema.structure(name).size == Int(size), "\(name), DFLAT_SEED=\(seed)")
    }
    for (alignment, name) in alignments {
      #expect(try schema.structure(name).alignment == Int(alignment), "\(name), DFLAT_SEED=\(seed)")
    }
  }

  private func matches(
    of pattern: Regex<(Substring, Substring, Substring)>, in text: String
  ) -> [(String, String)] {
    text.matches(of: pattern).map { (String($0.output.1), String($0.output.2)) }
  }

  @Test("Vtable offsets, with and without ids")
  func vtables() throws {
    let text = """
      table A { x: int; }
      union U { A }
      table Plain { a: int; u: U; b: string; us: [U]; c: bool; d: Plain; }
      table Shuffled { z: int (id: 5); u: U (id: 2); a: int (id: 0); us: [U] (id: 4); }
      table Gone { a: int; b: int (deprecated); c: U (deprecated); d: int; }
      """
    let schema = try schema(text)
    let cpp = try Flatc.cpp(text)
    for name in ["Plain", "Shuffled", "Gone"] {
      let table = try schema.table(name)
      let start = try #require(cpp.range(of: "struct \(name) FLATBUFFERS_FINAL_CLASS"))
      let body = cpp[start.upperBound...].prefix(2000)
      let end = try #require(body.range(of: "};"))
      var theirs: [String: Int] = [:]
      for match in body[..<end.lowerBound].matches(of: /VT_(\w+) = (\d+)/) {
        theirs[match.output.1.lowercased()] = Int(match.output.2)
      }
      var ours: [String: Int] = [:]
      for field in table.fields where !field.isDeprecated {
        ours[field.name] = field.offset
        switch field.type {
        case .union, .vector(.union): ours[field.name + "_type"] = field.offset - 2
        default: break
        }
      }
      #expect(ours == theirs, "\(name)")
    }
  }

  @Test("Defaults, as flatc prints those of an empty object")
  func defaults() throws {
    let text = """
      enum Color: byte { Red, Green, Blue = 7 }
      enum Flags: ubyte (bit_flags) { A, B, C = 6 }
      table T {
        id: int (primary);
        a: int = -0x1F; b: ubyte = 0xff; c: long = -9223372036854775808; d: int = 010;
        e: ulong = 18446744073709551615; f: float = 0x1.8p3; g: double = .25; h: double = -5.;
        i: float = 1e-5; j: bool = 2; k: bool = "true"; l: int = "Color.Green Color.Blue";
        m: double = rad(180); n: double = deg(1); o: double = sin(cos(rad(60))); p: int = " 12 ";
        q: Color = Green; r: Color = 7; s: Flags = "A C"; t: Flags = B; u: double = "1.5";
        v: float = atan(1); w: double = acos(0.25); x: short = +5; y: uint = "Flags.C";
      }
      root_type T;
      """
    let schema = try schema(text)
    let json = try Flatc.jsonOfEmptyObject(text)
    let shown = try #require(JSONSerialization.jsonObject(with: json) as? [String: Any])
    let table = try schema.table("T")
    var compared = 0
    for field in table.fields {
      var theirs = try #require(shown[field.name], "\(field.name)")
      if case .enumeration(let name) = field.type, let names = theirs as? String {
        theirs = try number(of: names, in: schema.enumeration(name.description))
      }
      let ours = try #require(field.defaultValue, "\(field.name)")
      compared += 1
      switch ours {
      case .bool(let value): #expect(theirs as? Bool == value, "\(field.name)")
      case .integer(let value):
        #expect((theirs as? NSNumber)?.int64Value == value, "\(field.name)")
      case .unsigned(let value):
        #expect((theirs as? NSNumber)?.uint64Value == value, "\(field.name)")
      case .real(let value):
        let number = try #require(theirs as? Double, "\(field.name)")
        #expect(abs(number - value) <= abs(value) * 1e-5, "\(field.name)")
      case .null, .string: Issue.record("\(field.name) has no number")
      }
    }
    #expect(compared == 26)
  }
}

/// The value of an enum that is printed by name, or of several flags.
private func number(of names: String, in definition: EnumDefinition) -> NSNumber {
  let words = names.split(separator: " ").map(String.init)
  let values = definition.values.filter { words.contains($0.name) }
  return NSNumber(value: values.reduce(0) { $0 | $1.value })
}
