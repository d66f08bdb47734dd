// Patterns of `LIKE`, compiled to a flat array for evaluation on the bytes of a row.
//
// A text is a sequence of units: the scalars of UTF-8, and each byte that is not UTF-8. `%` stands
// for any number of units. So it never ends inside a scalar.

/// A pattern of `LIKE`.
@usableFromInline package struct LikePattern: Sendable {
  /// A byte, or what stands for other bytes.
  struct Element: Equatable, Sendable {
    private let code: UInt16

    /// `_`.
    static let one = Element(code: 256)
    /// `%`.
    static let any = Element(code: 257)

    private init(code: UInt16) { self.code = code }

    init(_ byte: UInt8) { code = UInt16(byte) }

    /// The byte; nil for `_` and `%`.
    var byte: UInt8? { UInt8(exactly: code) }
  }

  /// The pattern and the escape as a program wrote them.
  private let pattern: String
  private let escape: Unicode.Scalar?
  let elements: [Element]

  package init(_ pattern: String, escape: Unicode.Scalar?) {
    self.init(pattern, escape, isFolded: false)
  }

  private init(_ pattern: String, _ escape: Unicode.Scalar?, isFolded: Bool) {
    self.pattern = pattern
    self.escape = escape
    var elements: [Element] = []
    var rest = pattern.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case escape where !rest.isEmpty: append(rest.removeFirst())
      case escape: append(scalar)
      case "%":
        // Several of them mean the same as one.
        if elements.last != .any { elements.append(.any) }
      case "_": elements.append(.one)
      default: append(scalar)
      }
    }
    self.elements = elements

    func append(_ scalar: Unicode.Scalar) {
      let text = isFolded ? CaseFolding.fold(String(scalar)) : String(scalar)
      elements += text.utf8.map { Element($0) }
    }
  }

  /// The pattern for folded texts.
  var folded: LikePattern { LikePattern(pattern, escape, isFolded: true) }

  /// What a matching text must begin with.
  var literalPrefix: String {
    String(decoding: elements.prefix { $0.byte != nil }.compactMap(\.byte), as: UTF8.self)
  }

  /// Whether every text with the literal prefix matches.
  var isPrefix: Bool {
    elements.firstIndex { $0.byte == nil } == elements.count - 1 && elements.last == .any
  }
}

extension LikePattern: CustomStringConvertible {
  /// The arguments of `like`.
  @usableFromInline package var description: String {
    let pattern = String(reflecting: pattern)
    return escape.map { "\(pattern), escape: \(String(reflecting: String($0)))" } ?? pattern
  }
}

extension ConstantBuffer<LikePattern.Element> {
  /// Whether a whole text looks like the pattern.
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    var element = 0
    // Where to try again: after the last `%`, one unit later in the text.
    var retry: (position: Int, element: Int)?
    while true {
      if element < count, self[element] == .any {
        element += 1
        if element == count { return true }
        retry = (position, element)
        continue
      }
      if position < text.count, element < count {
        if let byte = self[element].byte {
          if text[position] == byte {
            position += 1
            element += 1
            continue
          }
        } else {
          position += CaseFolding.scalar(in: text, at: position)?.size ?? 1
          element += 1
          continue
        }
      } else if position == text.count, element == count {
        return true
      }
      guard let (start, first) = retry, start < text.count else { return false }
      position = start + (CaseFolding.scalar(in: text, at: start)?.size ?? 1)
      element = first
      retry = (position, first)
    }
  }
}

extension Program {
  /// Whether a text passes the test of an instruction.
  func matches(_ text: UnsafeRawBufferPointer, _ test: Instruction) -> Bool {
    let index = Int(test.right)
    switch test.operation {
    case .hasPrefix: return text.hasPrefix(strings[index])
    case .hasSuffix: return text.hasSuffix(strings[index])
    case .containsText: return text.contains(strings[index])
    default: return patterns[index].matches(text)
    }
  }
}
