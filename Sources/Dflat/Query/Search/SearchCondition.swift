// SearchCondition: a search of some fields, compiled for the evaluation on texts.
//
// A row's texts are divided into words once. Each word is looked up among the words of the search
// (`SearchTerms`). For single words it is enough to note that they are there; for phrases their
// places are noted, too. A few parts of texts, which `trigram` finds, are looked for in the texts
// themselves (`TextPart`). An absent text has no words, so a search is true or false, and never
// unknown.

/// A search of some string fields of a row, as data.
@usableFromInline package final class SearchCondition: Sendable {
  /// The fields that are searched, in the order of the bits of ``SearchGroup/columns``.
  package let columns: [FieldDescriptor]
  /// How the texts of each are divided into words.
  private let tokenizers: [SearchTokenizer]
  /// What is searched for.
  package let expression: SearchExpression
  /// The groups of phrases in it.
  package let groups: [SearchGroup]
  /// Whether the type's full-text index finds what matches.
  package let isIndexed: Bool
  /// The positions of the fields among the columns of the type's full-text index.
  package let indexColumns: [Int]
  /// The position of that index in the schema; see `EntitySchema.fullTextPosition`.
  let indexPosition: Int?
  /// The search as it was written, for explanations.
  let text: String

  private let terms: SearchTerms
  /// The simple groups of each term.
  private let uses: [[(group: Int, columns: UInt64)]]
  /// Whether the places of each term are needed.
  private let isPlaced: [Bool]
  /// The phrases of each group.
  private let phrases: [[PhraseTerms]]
  /// Whether any place is needed to decide a match.
  private let needsPlaces: Bool
  /// The parts of texts that groups are found by; nil for a group that is found by words.
  private let parts: [TextPart?]
  /// The fields whose words are needed to decide a match.
  private let divided: UInt64
  /// The fields of all groups.
  private let searched: UInt64

  init(
    _ syntax: SearchSyntax, in columns: [FieldDescriptor], of schema: EntitySchema, text: String,
    search: String
  ) throws(SearchSyntaxError) {
    let tokenizers = columns.map { $0.searchTokenizer(in: schema) }
    var binder = SearchBinder(
      tokenizers, names: columns.map { schema.name(of: $0) }, search: search)
    let expression = try binder.bind(syntax)
    let groups = binder.groups
    let positions = schema.fullText?.positions(of: columns)
    indexColumns = positions ?? []
    indexPosition = positions == nil ? nil : schema.fullTextPosition
    isIndexed = positions != nil && expression.isIndexed(groups)
    self.columns = columns
    self.tokenizers = tokenizers
    self.expression = expression
    self.groups = groups
    self.text = text
    var all: [(token: [UInt8], isPrefix: Bool)] = []
    for phrase in groups.flatMap(\.phrases) {
      for (place, token) in phrase.tokens.enumerated() {
        all.append((token, phrase.isPrefix && place == phrase.tokens.count - 1))
      }
    }
    let terms = SearchTerms(all)
    self.terms = terms
    var uses: [[(group: Int, columns: UInt64)]] = Array(repeating: [], count: terms.count)
    var isPlaced = [Bool](repeating: false, count: terms.count)
    let phrases = groups.map { group in group.phrases.map { PhraseTerms($0, terms) } }
    self.phrases = phrases
    let parts = TextPart.parts(of: groups)
    self.parts = parts
    for (number, group) in groups.enumerated() where parts[number] == nil {
      if group.isSimple {
        uses[phrases[number][0].all[0]].append((number, group.columns))
      } else {
        for term in phrases[number].flatMap(\.all) { isPlaced[term] = true }
      }
    }
    self.uses = uses
    self.isPlaced = isPlaced
    needsPlaces = isPlaced.contains(true)
    divided = zip(groups, parts).reduce(0) { $1.1 == nil ? $0 | $1.0.columns : $0 }
    searched = groups.reduce(0) { $0 | $1.columns }
  }

  /// The same search of other fields, which no index answers.
  private init(_ other: SearchCondition, of columns: [FieldDescriptor]) {
    self.columns = columns
    tokenizers = other.tokenizers
    expression = other.expression
    groups = other.groups
    isIndexed = false
    indexColumns = []
    indexPosition = nil
    text = other.text
    terms = other.terms
    uses = other.uses
    isPlaced = other.isPlaced
    phrases = other.phrases
    needsPlaces = other.needsPlaces
    parts = other.parts
    divided = other.divided
    searched = other.searched
  }

  /// The search with other fields for some of its own.
  /// - Parameter replacement: The node for a field, which is a field; nil to keep it.
  func replacingFields(
    _ replacement: (FieldDescriptor) throws -> Node?
  ) rethrows -> SearchCondition {
    var isReplaced = false
    let columns = try columns.map { column in
      guard let node = try replacement(column) else { return column }
      guard case .field(let field) = node else {
        preconditionFailure("a field of a search was replaced by \(node)")
      }
      isReplaced = true
      return field
    }
    return isReplaced ? SearchCondition(self, of: columns) : self
  }

  /// Whether both search the same fields for the same.
  func isSame(as other: SearchCondition) -> Bool {
    self === other || (text.utf8.elementsEqual(other.text.utf8) && columns == other.columns)
  }

  // MARK: Matches

  /// Whether a row matches.
  /// - Parameter text: The text of a field, by its place in `columns`; nil if it is absent.
  func matches(_ text: (Int) -> UnsafeRawBufferPointer?) -> Bool {
    if expression.isNever { return false }
    var found = [Bool](repeating: false, count: groups.count)
    var places = [[UInt64]](repeating: [], count: needsPlaces ? terms.count : 0)
    for column in columns.indices where searched >> UInt64(column) & 1 == 1 {
      guard let text = text(column) else { continue }
      let bit: UInt64 = 1 << UInt64(column)
      for (number, part) in parts.enumerated()
      where !found[number] && groups[number].columns & bit != 0 {
        if let part { found[number] = part.isFound(in: text) }
      }
      if divided & bit == 0 { continue }
      let place = UInt64(column) << 32
      tokenizers[column].forEachToken(in: text) { token, number, _ in
        terms.forEachMatch(token) { term in
          for use in uses[term] where use.columns & bit != 0 { found[use.group] = true }
          if isPlaced[term] { places[term].append(place | UInt64(number)) }
        }
        return true
      }
    }
    if needsPlaces {
      for (number, group) in groups.enumerated()
      where !group.isSimple && parts[number] == nil && !found[number] {
        found[number] = isNear(group, group.phrases.indices.map { starts(number, $0, places) })
      }
    }
    return evaluate(expression, found)
  }

  private func evaluate(_ expression: SearchExpression, _ found: [Bool]) -> Bool {
    switch expression {
    case .never: false
    case .group(let number): found[number]
    case .and(let parts): parts.allSatisfy { evaluate($0, found) }
    case .or(let parts): parts.contains { evaluate($0, found) }
    case .not(let wanted, let unwanted): evaluate(wanted, found) && !evaluate(unwanted, found)
    }
  }

  /// Where a phrase begins, in ascending order.
  private func starts(_ group: Int, _ phrase: Int, _ places: [[UInt64]]) -> [UInt64] {
    phrases[group][phrase].starts(places, in: groups[group].columns)
  }

  /// Whether all phrases of a group have an occurrence that is near the others.
  private func isNear(_ group: SearchGroup, _ starts: [[UInt64]]) -> Bool {
    guard starts.allSatisfy({ !$0.isEmpty }) else { return false }
    if starts.count == 1 { return true }
    var next = [Int](repeating: 0, count: starts.count)
    var last = starts.map { $0[0] }.max() ?? 0
    while true {
      var isMatch = true
      for phrase in starts.indices {
        let reach = UInt64(group.phrases[phrase].tokens.count + group.distance)
        let least = last > reach ? last - reach : 0
        let start = starts[phrase][next[phrase]]
        if least...last ~= start { continue }
        isMatch = false
        while starts[phrase][next[phrase]] < least {
          next[phrase] += 1
          if next[phrase] == starts[phrase].count { return false }
        }
        last = max(last, starts[phrase][next[phrase]])
      }
      if isMatch { return true }
    }
  }

  // MARK: Occurrences

  /// How often each phrase that is wanted is in a row, weighted by the field.
  func relevance(weights: [Double], _ text: (Int) -> UnsafeRawBufferPointer?) -> Double {
    var places = [[UInt64]](repeating: [], count: terms.count)
    for column in columns.indices where searched >> UInt64(column) & 1 == 1 {
      guard let text = text(column) else { continue }
      let place = UInt64(column) << 32
      tokenizers[column].forEachToken(in: text) { token, number, _ in
        terms.forEachMatch(token) { places[$0].append(place | UInt64(number)) }
        return true
      }
    }
    var sum = 0.0
    for number in wantedGroups(expression) {
      for phrase in groups[number].phrases.indices {
        let frequency = starts(number, phrase, places).reduce(0) { sum, start in
          sum + weights[Int(start >> 32)]
        }
        // What bm25 gives to a row of average length: further occurrences count less and less.
        sum += frequency * 2.2 / (frequency + 1.2)
      }
    }
    return sum
  }

  /// The parts of a field's text that are searched for, in ascending order, without overlaps.
  func ranges(in text: UnsafeRawBufferPointer, column: Int) -> [Range<Int>] {
    var places = [[UInt64]](repeating: [], count: terms.count)
    var words: [Range<Int>] = []
    tokenizers[column].forEachToken(in: text) { token, number, range in
      words.append(range)
      terms.forEachMatch(token) { places[$0].append(UInt64(column) << 32 | UInt64(number)) }
      return true
    }
    var found: [Range<Int>] = []
    for number in wantedGroups(expression) where groups[number].columns >> UInt64(column) & 1 == 1 {
      for (index, phrase) in groups[number].phrases.enumerated() {
        for start in starts(number, index, places) {
          let first = Int(start & 0xFFFF_FFFF)
          var end = words[first + phrase.tokens.count - 1].upperBound
          if groups[number].tokenizer == .trigram, phrase.isPrefix {
            // The token may go on behind the part. Each character begins one.
            let next = first + phrase.tokens[0].count(where: { $0 & 0xC0 != 0x80 })
            if next < words.count { end = words[next].lowerBound }
          }
          found.append(words[first].lowerBound..<end)
        }
      }
    }
    return found.united
  }

  /// The groups that a match may have.
  private func wantedGroups(_ expression: SearchExpression) -> [Int] {
    switch expression {
    case .never: []
    case .group(let number): [number]
    case .and(let parts), .or(let parts): parts.flatMap(wantedGroups)
    case .not(let wanted, _): wantedGroups(wanted)
    }
  }
}

extension FieldDescriptor {
  /// How a search divides the texts into words: as the type says whose objects have them.
  fileprivate func searchTokenizer(in schema: EntitySchema) -> SearchTokenizer {
    if let target = related as? TargetField {
      return (target.field.alternatives.first ?? target.field).searchTokenizer(in: target.other)
    }
    let owner = element?.relation?.target ?? schema
    return owner.fullText?.tokenizer(of: self) ?? .unicode61
  }
}

extension [Range<Int>] {
  /// The ranges in ascending order; those that overlap are united.
  fileprivate var united: [Range<Int>] {
    var result: [Range<Int>] = []
    for range in sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
      if let last = result.last, range.lowerBound < last.upperBound {
        result[result.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
      } else {
        result.append(range)
      }
    }
    return result
  }
}
