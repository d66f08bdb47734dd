// Phrase terms: a phrase of a search, to be found in the places of its words.
//
// A phrase may be long and repeat itself, and so may a text. It is found by the algorithm of Knuth,
// Morris and Pratt, in time proportional to the number of places of its words.

/// The terms of a phrase, in succession.
struct PhraseTerms: Sendable {
  /// All terms.
  let all: [Int]
  /// The terms that are whole words: all, or all but the last.
  private let words: ArraySlice<Int>
  /// The last term, if it is the beginning of a word.
  private let prefix: Int?
  private let different: [Int]
  /// For each place in `words`: how many words before and at it are also the first ones.
  private let borders: [Int]
  private let isInitial: Bool

  init(_ phrase: SearchPhrase, _ terms: SearchTerms) {
    all = phrase.tokens.indices.compactMap { place in
      terms.number(
        of: phrase.tokens[place], isPrefix: phrase.isPrefix && place == phrase.tokens.count - 1)
    }
    prefix = phrase.isPrefix ? all.last : nil
    words = phrase.isPrefix ? all.dropLast() : all[...]
    different = Set(words).sorted()
    isInitial = phrase.isInitial
    var borders: [Int] = []
    var length = 0
    for (place, word) in words.enumerated() {
      if place > 0 {
        while length > 0, words[length] != word { length = borders[length - 1] }
        if words[length] == word { length += 1 }
      }
      borders.append(length)
    }
    self.borders = borders
  }

  /// Where the phrase begins, in ascending order.
  /// - Parameters:
  ///   - places: The places of each term, in ascending order: the column in the upper half, and the
  ///     number of the word in it.
  ///   - columns: A bit for each column in which it is looked for.
  func starts(_ places: [[UInt64]], in columns: UInt64) -> [UInt64] {
    func isWanted(_ start: UInt64) -> Bool {
      columns >> (start >> 32) & 1 == 1 && (!isInitial || start & 0xFFFF_FFFF == 0)
    }
    if words.isEmpty { return prefix.map { places[$0].filter(isWanted) } ?? [] }
    if all.contains(where: { places[$0].isEmpty }) { return [] }
    if all.count == 1 { return places[all[0]].filter(isWanted) }
    var starts: [UInt64] = []
    var length = 0
    var next: UInt64 = 0
    for (place, word) in sequence(places) {
      if place != next { length = 0 }
      next = place + 1
      while length == words.count || (length > 0 && words[length] != word) {
        length = borders[length - 1]
      }
      if words[length] == word { length += 1 }
      guard length == words.count else { continue }
      let start = next - UInt64(length)
      if isWanted(start), prefix.map({ places[$0].containsSorted(next) }) ?? true {
        starts.append(start)
      }
    }
    return starts
  }

  /// The places of all words, in ascending order.
  private func sequence(_ places: [[UInt64]]) -> [(place: UInt64, word: Int)] {
    let all = different.flatMap { word in places[word].map { (place: $0, word: word) } }
    return different.count == 1 ? all : all.sorted { $0.place < $1.place }
  }
}

extension [UInt64] {
  /// Whether a number is among these, which are in ascending order.
  fileprivate func containsSorted(_ number: UInt64) -> Bool {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low] == number
  }
}
