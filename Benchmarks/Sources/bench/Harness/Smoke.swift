// Checks once that the comparison is valid: the floor's rows are Dflat's rows.

import Dflat
import Foundation

enum Smoke {
  /// The floor's encoding of each sample equals Dflat's byte for byte, and its decoding yields the
  /// sample's values.
  static func checkRows(_ fixture: Fixture) throws {
    let samples = fixture.samples(fixture.many)
    var encoder = FloorEncoder()
    defer { encoder.free() }
    for (sample, doc) in zip(samples, floorDocs(samples)) {
      let ours = BenchDoc(
        title: sample.title, pos: sample.pos, color: sample.color, content: sample.content,
        tag: sample.tag, priority: sample.priority)
      let row = encoder.encode(doc)
      guard ours.toData() == Data(row) else {
        throw Disagreement(description: "'\(sample.title)': the floor's row has other bytes")
      }
      let record = FloorRecord(FloorReader(row: row.baseAddress!))
      guard record.title == sample.title, record.pos == sample.pos, record.color == sample.color,
        record.content == sample.content, record.tag == sample.tag,
        record.priority == sample.priority
      else { throw Disagreement(description: "'\(sample.title)': the floor reads other values") }
    }
    for sample in ScaleSample.make(1..<100) {
      let ours = ScaleDoc(
        number: sample.number, bucket: sample.bucket, priority: sample.priority, name: sample.name)
      guard ours.toData() == Data(encoder.encode(sample)) else {
        throw Disagreement(description: "\(sample.number): the floor's row has other bytes")
      }
    }
    for sample in ArticleSample.make(1..<100) {
      guard sample.object.toData() == Data(encoder.encode(sample)) else {
        throw Disagreement(description: "article \(sample.id): the floor's row has other bytes")
      }
    }
    print("rows: the floor's bytes are Dflat's")
  }
}
