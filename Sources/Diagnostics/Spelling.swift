// Spelling: finds the known name that is closest to a misspelt one, for hints in diagnostics.

/// The name in `names` that is closest to a misspelt one; nil if none is close, or several are
/// equally close.
///
/// Case and underscores are ignored. Of the remaining letters one in four may be wrong, missing or
/// superfluous, and always at least one.
package func nearest(to name: String, among names: some Sequence<String>) -> String? {
  let wanted = plain(name)
  let near = names.map { (name: $0, distance: distance(wanted, plain($0))) }
    .filter { $0.distance <= max(1, wanted.count / 4) }
  guard let least = near.map(\.distance).min() else { return nil }
  let best = near.filter { $0.distance == least }
  return best.count == 1 ? best[0].name : nil
}

private func plain(_ name: String) -> [UInt8] {
  name.lowercased().utf8.filter { $0 != UInt8(ascii: "_") }
}

/// The number of letters to change, insert or remove (Levenshtein).
private func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  var row = Array(0...b.count)
  for (i, letter) in a.enumerated() {
    var diagonal = row[0]
    row[0] = i + 1
    for (j, other) in b.enumerated() {
      let changed = diagonal + (letter == other ? 0 : 1)
      diagonal = row[j + 1]
      row[j + 1] = min(changed, diagonal + 1, row[j] + 1)
    }
  }
  return row[b.count]
}
