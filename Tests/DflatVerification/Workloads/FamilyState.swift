// FamilyState: what the objects of a family are, and what an operation makes of them, by the rules
// for deletions at their plainest.

import DflatTestSupport

/// Elders, and wards that refer to them and to each other.
struct FamilyState: Equatable {
  /// The references of a ward.
  struct Ward: Equatable {
    /// Deleted with this elder.
    var home: Int64?
    /// Forgets this elder.
    var friend: Int64?
    /// Does not allow this elder to be deleted.
    var creditor: Int64?
    /// Deleted with this ward, which may be itself, or one that is deleted with it.
    var parent: Int64?
    /// Forgets each of these elders.
    var teachers: [Int64] = []
  }

  var elders: Set<Int64> = []
  var wards: [Int64: Ward] = [:]

  /// The state after operations; see `FamilyOperation`.
  init(after numbers: [Int64] = [], of family: Int64 = 0) {
    for number in numbers { apply(FamilyOperation(number, of: family)) }
  }

  /// All of it as numbers.
  var encoded: CellValue {
    var numbers = [Int64(elders.count)] + elders.sorted()
    for (id, ward) in wards.sorted(by: { $0.key < $1.key }) {
      let single = [ward.home, ward.friend, ward.creditor, ward.parent].map { $0 ?? -1 }
      numbers += [id] + single + [Int64(ward.teachers.count)] + ward.teachers
    }
    return numbers
  }

  /// Leaves out references to what is not stored.
  func stored(_ ward: Ward) -> Ward {
    func known(_ id: Int64?) -> Int64? { id.flatMap { elders.contains($0) ? $0 : nil } }
    return Ward(
      home: known(ward.home), friend: known(ward.friend), creditor: known(ward.creditor),
      parent: ward.parent.flatMap { wards[$0] == nil ? nil : $0 },
      teachers: ward.teachers.filter { elders.contains($0) })
  }

  mutating func apply(_ operation: FamilyOperation) {
    switch operation {
    case .addElder(let id): elders.insert(id)
    case .putWard(let id, let ward): wards[id] = stored(ward)
    case .deleteWard(let id): wards = wards.filter { !with([id]).contains($0.key) }
    case .deleteElder(let id): deleteElder(id)
    }
  }

  /// Wards and those that are deleted with them.
  private func with(_ first: Set<Int64>) -> Set<Int64> {
    var deleted = first
    while let next = wards.first(where: { id, ward in
      !deleted.contains(id) && ward.parent.map { deleted.contains($0) } ?? false
    }) {
      deleted.insert(next.key)
    }
    return deleted
  }

  private mutating func deleteElder(_ id: Int64) {
    let deleted = with(Set(wards.filter { $0.value.home == id }.keys))
    let left = wards.filter { !deleted.contains($0.key) }
    if left.values.contains(where: { $0.creditor == id }) { return }
    elders.remove(id)
    wards = left.mapValues { ward in
      var ward = ward
      if ward.friend == id { ward.friend = nil }
      ward.teachers.removeAll { $0 == id }
      return ward
    }
  }
}

/// A change of a family, which is determined by a number.
enum FamilyOperation {
  case addElder(Int64)
  case putWard(Int64, FamilyState.Ward)
  case deleteElder(Int64)
  case deleteWard(Int64)

  init(_ number: Int64, of family: Int64) {
    var random = SeededGenerator(seed: UInt64(bitPattern: number))
    func elder() -> Int64 { family * 8 + Int64.random(in: 0..<3, using: &random) }
    func ward() -> Int64 { family * 8 + Int64.random(in: 0..<6, using: &random) }
    switch Int.random(in: 0..<10, using: &random) {
    case 0...2: self = .addElder(elder())
    case 3...6:
      self = .putWard(
        ward(),
        FamilyState.Ward(
          home: random.oneIn(2) ? elder() : nil, friend: random.oneIn(2) ? elder() : nil,
          creditor: random.oneIn(6) ? elder() : nil, parent: random.oneIn(2) ? ward() : nil,
          teachers: (0..<random.pick([0, 1, 3])).map { _ in elder() }))
    case 7, 8: self = .deleteElder(elder())
    default: self = .deleteWard(ward())
    }
  }
}
