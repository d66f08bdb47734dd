// Families in a workspace: elders and wards, changed in all the ways that programs use.

public import Dflat
import SQLiteDflat

private typealias Elder = Verify.Elder
private typealias Ward = Verify.Ward

/// The types of the objects of families.
public let familyTypes: [any Atom.Type] = [Verify.Elder.self, Verify.Ward.self]

extension FamilyState {
  /// What is stored of a family.
  init(of family: Int64, in dflat: any Workspace) {
    self.init()
    for elder in dflat.fetch(for: Elder.self).where(Elder.family == family) {
      elders.insert(elder.id)
    }
    for ward in dflat.fetch(for: Verify.Ward.self).where(Verify.Ward.family == family) {
      wards[ward.id] = Ward(
        home: ward.home, friend: ward.friend, creditor: ward.creditor, parent: ward.parent,
        teachers: ward.teachers)
    }
  }
}

extension CellContext {
  /// Carries out the operation of a number. A refused deletion changes nothing.
  func change(family: Int64, _ number: Int64, _ dflat: any Workspace) throws {
    switch FamilyOperation(number, of: family) {
    case .addElder(let id):
      try submit(Verify.ElderChangeRequest.upsertRequest(Elder(id: id, family: family)))
    case .putWard(let id, let ward):
      try put(id, FamilyState(of: family, in: dflat).stored(ward), family, dflat)
    case .deleteElder(let id):
      do {
        if case .write(let txn) = self, number % 2 == 0 {
          try txn.delete(Elder.self, keys: [id])
        } else if case .write(let txn) = self {
          try txn.delete(where: Elder.id == id)
        } else if let request = Verify.ElderChangeRequest.deletionRequest(Elder(id: id)) {
          try submit(request)
        }
      } catch is DeletionDenied {}
    case .deleteWard(let id):
      if case .write(let txn) = self {
        try txn.delete(Ward(id: id))
      } else if let request = Verify.WardChangeRequest.deletionRequest(Ward(id: id)) {
        try submit(request)
      }
    }
  }

  /// Stores a ward, in `write` by a draft of the stored one.
  private func put(
    _ id: Int64, _ ward: FamilyState.Ward, _ family: Int64, _ dflat: any Workspace
  ) throws {
    if case .write(let txn) = self,
      let stored = dflat.fetch(for: Ward.self).where(Ward.id == id).first
    {
      var draft = stored.draft()
      draft.change {
        $0.home = ward.home
        $0.friend = ward.friend
        $0.creditor = ward.creditor
        $0.parent = ward.parent
        $0.teachers = ward.teachers
      }
      try txn.merge(draft)
      return
    }
    try submit(
      Verify.WardChangeRequest.upsertRequest(
        Ward(
          id: id, family: family, home: ward.home, friend: ward.friend, creditor: ward.creditor,
          parent: ward.parent, teachers: ward.teachers)))
  }
}
