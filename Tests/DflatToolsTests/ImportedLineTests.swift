// Importing lines that say what their type does not know, or numbers in unusual forms.

import DflatTestSupport
import Foundation
import Testing

@testable import DflatTools

@Suite("An imported line")
struct ImportedLineTests {
  private static let schema = """
    enum C: byte { R, G }
    enum F: ubyte (bit_flags) { A, B }
    table N { x: int; }
    table M { y: int; }
    union U { N, M }
    struct P { x: double; }
    table T {
      id: int (primary); c: C; oc: C = null; cs: [C]; fs: F; n: N; ns: [N]; p: P; u: U; us: [U];
      i: int; f: float; d: double; ds: [double]; q: string (required);
    }
    root_type T;
    """

  /// What is wrong with some lines, and the objects as they are exported.
  private func importing(
    _ text: String, _ format: DataFile.ExportFormat = .jsonLines, isDryRun: Bool = false
  ) throws -> (problems: [ImportProblem], objects: String) {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let schema = "\(directory)/t.fbs"
    try Self.schema.write(toFile: schema, atomically: true, encoding: .utf8)
    var job = try Import(into: "\(directory)/t.db", type: "T", schemas: [schema])
    job.format = format
    job.isDryRun = isDryRun
    let problems = try job.run(reading: portions(of: text)).problems
    if isDryRun || !problems.isEmpty { return (problems, "") }
    let file = try DataFile.open("\(directory)/t.db")
    defer { file.close() }
    var objects = Data()
    _ = try file.export(try file.type(named: "T")) { objects.append($0) }
    return (problems, String(decoding: objects, as: UTF8.self))
  }

  @Test(
    "A line whose values would get lost is refused, and the field is named",
    arguments: [
      (#""n":{"x":1,"typo":2}"#, "n.typo: N has no such field"),
      (#""p":{"X":1}"#, "p.X: P has no such field: did you mean 'x'?"),
      (#""ns":[{},{"x":1,"y":2}]"#, "ns[1].y: N has no such field: did you mean 'x'?"),
      (#""u":{"x":1},"u_type":"M""#, "u.x: M has no such field: did you mean 'y'?"),
      (#""us_type":["N","M"],"us":[{},{"y":1,"x":1}]"#, "us[1].x: M has no such field: "),
      (#""c":77"#, "c: C has no value 77"), (#""oc":77"#, "oc: C has no value 77"),
      (#""cs":[0,"G",-1]"#, "cs[2]: C has no value -1"),
      (#""i":1,"i":2"#, "i: the field is there twice"),
      (#""n":{"x":1,"\u0078":1}"#, "n.x: the field is there twice"),
    ])
  func lostValues(fields: String, problem: String) throws {
    let found = try importing("{\"id\":1,\"q\":\"\",\(fields)}\n").problems
    #expect(found.first?.description.hasPrefix("line 1: \(problem)") == true, "\(found)")
  }

  @Test("Cells of CSV that are JSON are checked like JSON")
  func cells() throws {
    let named = try importing("id,q,n\n1,\"\",\"{\"\"typo\"\":1}\"\n", .csv).problems
    #expect(named.map(\.field) == ["n.typo"])
    let twice = try importing("id,q,n\n1,\"\",\"{\"\"x\"\":1,\"\"x\"\":2}\"\n", .csv).problems
    #expect(twice.map(\.field) == ["n.x"])
    let long = try importing("id,q\n\(String(repeating: "y", count: 1 << 20)),\"\"\n", .csv)
      .problems
    #expect(long.map(\.field) == ["id"])
    let message = try #require(long.first?.message)
    #expect(message.count < 400 && message.contains("1048576 bytes"))
  }

  @Test(
    "A number that does not fit is named by its field, whatever else the line has",
    arguments: [
      (#""i":1.5"#, "i: 1.5 is not a whole number"),
      (#""i":1e-1"#, "i: 1e-1 is not a whole number"),
      (#""i":3e9"#, "i: 3e9 does not fit Int32"), (#""d":1e400"#, "d: 1e400 does not fit Double"),
      (#""ds":[0,-1e400]"#, "ds[1]: -1e400 does not fit Double"),
      (#""f":1e39"#, "f: 1e39 does not fit Float"), (#""c":0.5"#, "c: 0.5 is not a whole number"),
    ])
  func numbers(field: String, problem: String) throws {
    let found = try importing("{\"id\":1,\(field),\"q\":\"\"}\n").problems
    #expect(found.map(\.description) == ["line 1: \(problem)"])
  }

  @Test(
    "A line that is no JSON is named with the column",
    arguments: [
      (#"{"id":1 "q":""}"#, "column 9: ',' or '}' is missing"),
      (#"{"id":1,"q":"é"} x"#, "column 18: text stands behind the value"),
      (#"{"id":1,"q":"a\qb"}"#, "column 16: there is no such escape"),
      (#"{"id":1,"q":"a"#, "column 15: the end of a text is missing"),
      (#"{"id":1,"q":"","d":-}"#, "column 21: a digit is missing"),
      (#"{"id":1,"q":nul}"#, "column 13: a value is missing"), ("", ""),
    ])
  func syntax(text: String, problem: String) throws {
    let found = try importing(text + "\n", isDryRun: true).problems
    #expect(
      found.map(\.description) == (text.isEmpty ? [] : ["line 1: this is no JSON: \(problem)"]))
    let deep = String(repeating: "[", count: 100_000)
    let problems = try importing("{\"id\":1,\"q\":\(deep)", isDryRun: true).problems
    #expect(problems.map(\.field) == ["q"])
  }

  @Test(
    "Half of a surrogate pair is named by its field",
    arguments: [#"\ud83d"#, #"a\uDE00b"#, #"\ude00\ud83d"#, #"\ud83d\u0041"#, #"\ud83dx\ude00"#])
  func halfPairs(text: String) throws {
    let found = try importing("{\"id\":1,\"q\":{\"s\":\"\(text)\"}}\n").problems
    #expect(
      found.map(\.description) == ["line 1: q.s: the text has one half of a surrogate pair"])
    let whole = try importing(#"{"id":1,"q":"\ud83d\ude00"}"# + "\n")
    #expect(whole.problems.isEmpty && whole.objects.contains("\"q\":\"😀\""), "\(whole)")
  }

  @Test("Zeros may have exponents, and numbers too small for a field are zero")
  func zeros() throws {
    let found = try importing(
      #"{"id":1e0,"q":"","d":0e5,"ds":[-0.0e5,-0,0E+5,1e-310],"f":1e-60,"i":0e5,"fs":3,"oc":1}"#)
    #expect(found.problems.isEmpty, "\(found.problems)")
    #expect(found.objects.contains(#""ds":[-0,-0,0,1e-310],"#), "\(found.objects)")
    #expect(found.objects.contains(#""f":0,"fs":"A B","i":0,"id":1,"#), "\(found.objects)")
  }
}
