// FloorRecord: a decoded object with the same Swift values that Dflat's getters return.
//
// Where Dflat returns Swift strings and arrays, the floor creates them too, each directly from the
// bytes.

struct FloorRecord {
  var pos: Vec3?
  var color: Color
  var title: String
  var content: Content?
  var tag: String?
  var priority: Int32
}

extension FloorBytes {
  /// The bytes as a Swift string; nil if the field is absent.
  @inline(__always)
  var string: String? {
    guard let start else { return nil }
    return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }
}

extension FloorRecord {
  /// Every field of a row, read in place and turned into Swift values.
  @inline(__always)
  init(_ reader: FloorReader) {
    pos = reader.pos.map { Vec3(x: $0.0, y: $0.1, z: $0.2) }
    color = Color(rawValue: reader.color) ?? .red
    title = reader.title.string ?? ""
    tag = reader.tag.string
    priority = reader.priority
    switch reader.kind {
    case 1: content = reader.reader(12).map { .textContent(TextContent(text: $0.bytes(4).string)) }
    case 2:
      var images: [String] = []
      if let (start, count) = reader.reader(12)?.vector(4) {
        images.reserveCapacity(count)
        for index in 0..<count {
          images.append(FloorReader.bytes(at: start + 4 * index).string ?? "")
        }
      }
      content = .imageContent(ImageContent(images: images))
    default: content = nil
    }
  }
}

/// The samples as in a C program. The memory is kept until the process ends.
func floorDocs(_ samples: [Sample]) -> [FloorDoc] {
  func copy(_ string: String?) -> FloorBytes {
    guard var string else { return FloorBytes() }
    return string.withUTF8 { utf8 in
      let memory = UnsafeMutableRawPointer.allocate(byteCount: utf8.count + 1, alignment: 1)
      memory.copyMemory(from: UnsafeRawPointer(utf8.baseAddress!), byteCount: utf8.count)
      return FloorBytes(start: memory, count: utf8.count)
    }
  }
  return samples.map { sample in
    var doc = FloorDoc()
    doc.title = copy(sample.title)
    doc.tag = copy(sample.tag)
    doc.color = sample.color.rawValue
    doc.priority = sample.priority
    if let pos = sample.pos { (doc.hasPos, doc.x, doc.y, doc.z) = (true, pos.x, pos.y, pos.z) }
    switch sample.content {
    case nil: break
    case .textContent(let content):
      doc.kind = 1
      doc.text = copy(content.text)
    case .imageContent(let content):
      doc.kind = 2
      doc.imageCount = content.images.count
      let images = UnsafeMutablePointer<FloorBytes>.allocate(capacity: content.images.count)
      for (index, image) in content.images.enumerated() {
        images.advanced(by: index).initialize(to: copy(image))
      }
      doc.images = images
    }
    return doc
  }
}
