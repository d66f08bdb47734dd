// SourceText: Swift source under construction.
//
// Invariants: indentation is two spaces per level, and text that does not fit into 100 columns is
// broken where `swift format` would break it. So the output needs no formatting, and a linter finds
// nothing.

struct SourceText {
  private(set) var text = ""
  private var level = 0
  /// Whether the next declaration needs a blank line before it.
  private var needsGap = false

  static let width = 100

  private var indentation: String { String(repeating: " ", count: 2 * level) }

  /// Whether a line fits at the current indentation.
  func fits(_ line: String) -> Bool {
    // Counting bytes is faster, and there are never fewer of them.
    let room = Self.width - 2 * level
    return line.utf8.count <= room || line.count <= room
  }

  /// One line, unchanged.
  mutating func line(_ line: String) {
    text += line.isEmpty ? "\n" : indentation + line + "\n"
    needsGap = true
  }

  /// A statement in one line, or broken after its equals sign or inside its parentheses.
  mutating func statement(_ statement: String, _ close: String = "") {
    if fits(statement + close) { return line(statement + close) }
    if let equals = Self.range(of: " = ", in: statement) {
      line(statement[..<equals.lowerBound] + " =")
      let value = String(statement[equals.upperBound...]) + close
      return nest { text in
        if text.fits(value) { return text.line(value) }
        if value.hasSuffix(" }"), let parameters = value.firstRange(of: " rules in ") {
          // A closure, whose parameters the formatter puts into a line of their own.
          let head = value[..<parameters.lowerBound]
          guard let open = head.lastIndex(of: "{") else { return text.line(value) }
          text.line(String(head[...open]))
          text.nest { text in
            text.line(head[head.index(open, offsetBy: 2)...] + " rules in")
            text.line(String(value[parameters.upperBound...].dropLast(2)))
          }
          return text.line("}")
        }
        if let operation = Self.range(of: " ?? ", in: value) {
          text.line(String(value[..<operation.lowerBound]))
          return text.line("?? " + value[operation.upperBound...])
        }
        if value.hasSuffix(" }"), let open = Self.range(of: " { ", in: value) {
          text.line(value[..<open.lowerBound] + " {")
          text.nest { $0.line(String(value[open.upperBound...].dropLast(2))) }
          return text.line("}")
        }
        guard value.hasSuffix(")"), let open = value.firstIndex(of: "(") else {
          return text.line(value)
        }
        text.line(String(value[...open]))
        text.nest { $0.line(String(value[value.index(after: open)...])) }
      }
    }
    if statement.hasSuffix(")"), let open = statement.firstIndex(of: "(") {
      line(String(statement[...open]))
      let arguments = String(statement[statement.index(after: open)...]) + close
      return nest { text in
        guard !text.fits(arguments), let member = Self.range(of: ", .", in: arguments) else {
          return text.line(arguments)
        }
        text.line(arguments[..<member.lowerBound] + ",")
        let rest = "." + arguments[member.upperBound...]
        text.fill(Self.labelled(rest), last: "")
      }
    }
    line(statement + close)
  }

  /// Where some characters occur first outside of string literals.
  private static func range(of part: String, in code: String) -> Range<String.Index>? {
    var isInside = false
    var isEscaped = false
    var rest = code[...]
    while let character = rest.first {
      if !isInside, rest.hasPrefix(part) {
        return rest.startIndex..<code.index(rest.startIndex, offsetBy: part.count)
      }
      if isEscaped {
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isInside.toggle()
      }
      rest.removeFirst()
    }
    return nil
  }

  /// The arguments of a property's layout, split before the labels that may follow its kind.
  private static func labelled(_ arguments: String) -> [String] {
    var parts = [arguments]
    for label in ["swift: ", "required: ", "as: "] {
      guard let range = range(of: ", " + label, in: parts[parts.count - 1]) else { continue }
      let last = parts.removeLast()
      parts += [String(last[..<range.lowerBound]), label + last[range.upperBound...]]
    }
    return parts
  }

  /// Declarations that were written by themselves.
  mutating func append(_ other: SourceText) {
    text += other.text
    needsGap = true
  }

  /// A blank line, unless this is the beginning of a block.
  mutating func gap() {
    if needsGap { text += "\n" }
    needsGap = false
  }

  /// A documentation comment.
  mutating func documentation(_ lines: [String]) {
    for line in lines {
      if line.utf8.allSatisfy({ $0 >= 0x20 }), line.utf8.last != 0x20 {
        self.line(line.isEmpty ? "///" : "/// " + line)
        continue
      }
      // A schema's comment may contain anything, even a carriage return in the middle.
      let scalars = line.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }
      let end = scalars.lastIndex { $0 != " " }.map { $0 + 1 } ?? 0
      var text = ""
      text.unicodeScalars.append(contentsOf: scalars[..<end])
      self.line(text.isEmpty ? "///" : "/// " + text)
    }
  }

  /// `head { … }` over several lines.
  mutating func block(_ head: String, _ body: (inout SourceText) -> Void) {
    line(head + " {")
    nest(body)
    line("}")
  }

  /// `head: conformances { … }` over several lines.
  mutating func type(
    _ head: String, _ conformances: [String], _ body: (inout SourceText) -> Void
  ) {
    let whole = "\(head): \(conformances.joined(separator: ", "))"
    if fits(whole + " {") { return block(whole, body) }
    var rest = conformances[...]
    var first = head + ":"
    while let next = rest.first, fits("\(first) \(next),") {
      first += " \(next)" + (rest.count > 1 ? "," : "")
      rest = rest.dropFirst()
    }
    line(first)
    if !rest.isEmpty { nest { $0.fill(Array(rest), last: "") } }
    line("{")
    nest(body)
    line("}")
  }

  /// `extension type where clause { … }` over several lines.
  mutating func extending(
    _ type: String, where clause: String, _ body: (inout SourceText) -> Void
  ) {
    let head = "nonisolated extension \(type)"
    if fits("\(head) where \(clause) {") { return block("\(head) where \(clause)", body) }
    line(head)
    block("where \(clause)", body)
  }

  mutating func nest(_ body: (inout SourceText) -> Void) {
    level += 1
    needsGap = false
    body(&self)
    level -= 1
    needsGap = true
  }

  /// `name: type { … }` over several lines.
  mutating func property(
    _ name: String, _ type: String, _ body: (inout SourceText) -> Void
  ) {
    if fits("\(name): \(type) {") { return block("\(name): \(type)", body) }
    if fits("\(name): \(type)") {
      line("\(name): \(type)")
    } else {
      line(name + ":")
      nest { $0.line(type) }
    }
    line("{")
    nest(body)
    line("}")
  }

  /// `head = type`, broken inside its angle brackets if it does not fit.
  mutating func typealiasing(_ head: String, _ type: String) {
    let whole = "\(head) = \(type)"
    guard !fits(whole), type.hasSuffix(">"), let open = type.firstIndex(of: "<") else {
      return line(whole)
    }
    line("\(head) = \(type[...open])")
    nest { $0.line(String(type[type.index(after: open)...].dropLast())) }
    line(">")
  }

  /// `head -> result { … }` over several lines.
  mutating func returning(
    _ head: String, _ result: String, _ body: (inout SourceText) -> Void
  ) {
    if fits("\(head) -> \(result) {") { return block("\(head) -> \(result)", body) }
    line(head)
    nest { $0.line("-> " + result) }
    line("{")
    nest(body)
    line("}")
  }

  /// `name: type { body }` in one line if it fits, otherwise in three, or in five with the body of
  /// the closure broken as well.
  mutating func short(_ name: String, _ type: String, _ body: String) {
    let whole = "\(name): \(type) { \(body) }"
    if fits(whole) { return line(whole) }
    property(name, type) { text in
      guard !text.fits(body), let open = body.firstIndex(of: "{"), body.hasSuffix(" }") else {
        return text.line(body)
      }
      text.line(String(body[...open]))
      text.nest { $0.line(String(body[body.index(open, offsetBy: 2)...].dropLast(2))) }
      text.line("}")
    }
  }

  /// `get { condition ? one : other }` in one line if it fits, otherwise in three, or with the
  /// choices below the condition.
  mutating func getter(_ condition: String, _ one: String, _ other: String) {
    let whole = "\(condition) ? \(one) : \(other)"
    if fits("get { \(whole) }") { return line("get { \(whole) }") }
    block("get") { text in
      if text.fits(whole) { return text.line(whole) }
      text.line(condition)
      text.nest { text in
        text.line("? " + one)
        text.line(": " + other)
      }
    }
  }

  /// `if condition { statement }` in one line if it fits, otherwise in three.
  mutating func short(if condition: String, _ statement: String) {
    let whole = "if \(condition) { \(statement) }"
    // The formatter keeps room for the comma that a list in several lines ends with.
    let room = condition.contains("]") ? "," : ""
    if fits(whole + room) { return line(whole) }
    block("if \(condition)") { $0.statement(statement) }
  }

  /// `head -> result { body }` in one line if it fits, otherwise in several.
  mutating func shortFunction(_ head: String, _ result: String, _ body: String) {
    let whole = "\(head) -> \(result) { \(body) }"
    if fits(whole) { return line(whole) }
    returning(head, result) { $0.line(body) }
  }

  /// `open` followed by a list and `close`: in one line if it fits, otherwise the list is filled
  /// into the lines below.
  ///
  /// - Parameter hangs: Whether `close` is then in a line of its own, as in declarations.
  mutating func list(_ open: String, _ items: [String], _ close: String, hangs: Bool = false) {
    let whole = open + items.joined(separator: ", ") + close
    if fits(whole) || items.isEmpty { return line(whole) }
    line(open)
    nest { text in
      text.fill(items, last: hangs ? "" : close)
    }
    if hangs { line(close) }
  }

  /// A declaration with parameters: `head(parameters) -> returns { … }`.
  mutating func function(
    _ head: String, _ parameters: [String], returns: String? = nil,
    _ body: (inout SourceText) -> Void
  ) {
    var inner = SourceText()
    inner.level = level + 1
    body(&inner)
    let close = returns.map { ") -> \($0)" } ?? ")"
    if inner.text.isEmpty { return list(head + "(", parameters, close + " {}", hangs: true) }
    list(head + "(", parameters, close + " {", hangs: true)
    text += inner.text
    line("}")
  }

  /// `open`, arguments, and an array literal as the last argument: in one line, with the arguments
  /// in one line of their own, or with each element in a line of its own.
  ///
  /// - Parameter last: A label and one more array literal after the first.
  mutating func call(
    _ open: String, _ arguments: String, _ elements: [String],
    last: (label: String, elements: [String])? = nil
  ) {
    let array = "[\(elements.joined(separator: ", "))]"
    let more = last.map { ", \($0.label) [\($0.elements.joined(separator: ", "))])" } ?? ")"
    let whole = "\(arguments) \(array)\(more)"
    if fits(open + whole) { return line(open + whole) }
    line(open)
    nest { text in
      if text.fits(whole) { return text.line(whole) }
      guard let last else {
        text.line(arguments)
        if text.fits(array + ")") { return text.line(array + ")") }
        return text.array(elements, ")")
      }
      if text.fits("\(arguments) \(array),") {
        text.line("\(arguments) \(array),")
      } else {
        text.line(arguments)
        if text.fits(array + ",") { text.line(array + ",") } else { text.array(elements, ",") }
      }
      text.strings(last.label + " ", last.elements, ")")
    }
  }

  /// A labelled array literal: in one line if it fits.
  mutating func strings(_ label: String, _ elements: [String], _ close: String) {
    let whole = "\(label)[\(elements.joined(separator: ", "))]\(close)"
    if fits(whole) { return line(whole) }
    line(label + "[")
    rows(elements)
    line("]" + close)
  }

  /// An array literal, with its elements filled into several lines if they do not fit into one.
  mutating func filledArray(_ open: String, _ elements: [String]) {
    let whole = open + elements.joined(separator: ", ") + "]"
    if fits(whole) { return line(whole) }
    line(open)
    nest { $0.fill(elements, last: elements.count > 1 ? "," : "") }
    line("]")
  }

  private mutating func fill(_ items: [String], last: String) {
    var current = ""
    for (index, item) in items.enumerated() {
      let piece = item + (index == items.count - 1 ? last : ",")
      if !current.isEmpty, !fits(current + " " + piece) {
        line(current)
        current = piece
      } else {
        current += current.isEmpty ? piece : " " + piece
      }
    }
    line(current)
  }

  /// An array literal with one element per line, followed by `close`.
  mutating func array(_ elements: [String], _ close: String) {
    if elements.isEmpty { return line("[]" + close) }
    line("[")
    rows(elements)
    line("]" + close)
  }

  /// Elements of an array literal; a single one has no trailing comma.
  private mutating func rows(_ elements: [String]) {
    let comma = elements.count > 1 ? "," : ""
    nest { text in
      for element in elements { text.statement(element, comma) }
    }
  }

  /// The attribute that lets a member satisfy a requirement of another name; empty if the names are
  /// equal.
  mutating func implements(
    _ protocolName: String, _ requirement: String, by member: String, _ names: TypeNames
  ) {
    if member == requirement { return }
    line("@_implements(\(names.dflat(protocolName)),\(requirement))")
  }
}
