// Swift names for what GraphQL names: words are put together again in Swift's way.

enum ResponseNames {
  /// Names for members: each in camel case, or as it is where that gives two the same name. None is
  /// one of `taken`.
  static func members(_ names: [String], avoiding taken: Set<String> = []) -> [String] {
    var counts: [String: Int] = [:]
    let cased = names.map(NameCase.camel)
    for camel in cased { counts[camel, default: 0] += 1 }
    var used = taken.union(["self", "init", "hashValue", "none", "Type", "Protocol"])
    return zip(names, cased).map { name, camel in
      var member = counts[camel] == 1 ? camel : name
      while used.contains(member) { member += "_" }
      used.insert(member)
      return member
    }
  }
}

extension String {
  /// The lines of a description.
  var commentLines: [String] {
    utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
  }
}
