// The shapes of enums, and how they differ.
//
// The order of cases has no meaning, except that the associated values of each case have a slot.

internal import SwiftSyntax

extension Shape {
  /// The cases of an enum in the order of shapes: first those without a slot. Raw values need none.
  /// - Parameter places: Where each case is declared.
  func inOrder(places: [Syntax], isRaw: Bool) -> (shape: Shape, places: [Syntax]) {
    let all = zip(entries, places).map { ($0, $1) }
    let ordered =
      all.filter { !$0.0.hasSlot(isRaw: isRaw) } + all.filter { $0.0.hasSlot(isRaw: isRaw) }
    return (Shape(ordered.map(\.0)), ordered.map(\.1))
  }

  /// The differences of an enum's cases, which are in the order of shapes, from stored ones.
  func caseDifferences(from stored: Shape, isRaw: Bool) -> [Difference] {
    var found: [Difference] = []
    func add(_ kind: String, _ position: Int?, _ message: String, isCompatible: Bool = false) {
      found.append(
        Difference(position: position, kind: kind, message: message, isCompatible: isCompatible))
    }
    let old = Dictionary(stored.entries.map { ($0.name, $0) }) { first, _ in first }
    let new = Set(entries.map(\.name))
    var renamed: Set<String> = []
    for (position, entry) in entries.enumerated() {
      if let before = old[entry.name] {
        if before != entry, !isRaw || !before.hasSameRawValue(as: entry) {
          add("retyped", position, "'\(before.text)' has become '\(entry.text)'")
        }
      } else if isRaw,
        let before = stored.entries.first(where: {
          !new.contains($0.name) && $0.hasSameRawValue(as: entry)
        })
      {
        renamed.insert(before.name)
        add(
          "renamed", position,
          "'\(before.name)' was renamed to '\(entry.name)', with its raw value",
          isCompatible: true)
      } else if entry.hasSlot(isRaw: isRaw),
        entries[(position + 1)...].contains(where: { old[$0.name] != nil })
      {
        add(
          "inserted", position,
          "'\(entry.name)' is new, before cases with values that are stored; move it behind them")
      } else {
        add("appended", position, "'\(entry.name)' was appended", isCompatible: true)
      }
    }
    for entry in stored.entries where !new.contains(entry.name) && !renamed.contains(entry.name) {
      add("removed", nil, "'\(entry.name)' was removed")
    }
    func slots(_ entries: [ShapeEntry], _ others: [String: ShapeEntry]) -> [String] {
      entries.filter { $0.hasSlot(isRaw: isRaw) && others[$0.name] != nil }.map(\.name)
    }
    let names = Dictionary(entries.map { ($0.name, $0) }) { first, _ in first }
    if found.allSatisfy(\.isCompatible), slots(stored.entries, names) != slots(entries, old) {
      add("exchanged", nil, "the cases with values are in another order")
    }
    return found
  }
}

extension ShapeEntry {
  /// Whether a case has a slot for associated values.
  fileprivate func hasSlot(isRaw: Bool) -> Bool { !isRaw && code != "()" }
}
