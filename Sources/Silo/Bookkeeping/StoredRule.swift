// StoredRule: which tables have relations with rules, for processes that do not know their types.

import Dflat
import Platform

/// That a table has relations with rules to another one.
@Persistable(version: 1, table: "silo_rules", shape: "id:S owner:S target:S")
struct StoredRule: Identifiable, Sendable {
  /// Both tables.
  var id: String
  var owner: String
  @Indexed var target: String

  init<Owner: Persistable, Target: Persistable>(from owner: Owner.Type, to target: Target.Type) {
    self.owner = Owner._canonical.name
    self.target = Target._canonical.name
    id = "\(self.owner) \(self.target)"
  }
}

extension StoredRule: Bookkeeping {}

extension Persistable {
  /// What is to be recorded about the type's relations.
  static var rules: [StoredRule] {
    func rule<R: ValueRelation>(_ relation: R) -> StoredRule {
      StoredRule(from: R.Owner.self, to: R.Target.self)
    }
    return _relations.filter { $0._retains || $0._rule != .nothing }.map { rule($0) }
  }
}
