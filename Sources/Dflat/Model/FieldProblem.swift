// Field problems: stored values that the schema does not allow, or that have no meaning in their
// Swift type.
//
// Objects with such values are still readable, with a substitute for the value, and are never left
// out of results. This is how a program learns of them.

import FlatBuffersRuntime

/// A problem with a stored field that can still be read; see ``Atom/fieldProblems``.
public struct FieldProblem: Hashable, Sendable, CustomStringConvertible {
  /// The kind of problem.
  public enum Kind: Hashable, Sendable {
    /// The schema requires the field, but it is missing and reads as an empty value.
    case missing
    /// The stored value, given here, has no meaning in the Swift type. It reads as nil, or as the
    /// type's `unreadable` value.
    case unreadable(String)
  }

  /// The field's name in Swift, preceded by the fields that lead to it: `author.site`,
  /// `lines[2].price`.
  public let field: String
  /// What is wrong with the field.
  public let kind: Kind

  /// The field and the problem in words.
  public var description: String {
    switch kind {
    case .missing: "\(field) is required and missing"
    case .unreadable(let value): "\(field) holds \(value), which cannot be read"
    }
  }
}

extension Atom {
  /// The required fields that are missing, and the fields that cannot be read as their Swift type,
  /// in the stored object and in its nested values.
  ///
  /// Rows from older programs, or from programs in other languages, may have such problems:
  ///
  ///     for post in dflat.fetch(for: Post.self).all() where !post.fieldProblems.isEmpty {
  ///       print(post._rowid, post.fieldProblems)
  ///     }
  public var fieldProblems: [FieldProblem] {
    var problems: [FieldProblem] = []
    _row.read { Self._layout.findProblems(in: $0, "", &problems) }
    return problems
  }
}

extension TableLayout {
  fileprivate func findProblems(
    in table: TableReader, _ prefix: String, _ problems: inout [FieldProblem]
  ) {
    for property in properties {
      let name = prefix + property.swiftName
      if property.isRequired, !table.contains(property.offset) {
        problems.append(FieldProblem(field: name, kind: .missing))
      } else {
        table.value(of: property).findProblems(name, property.form, &problems)
      }
    }
  }
}

extension LayoutValue {
  fileprivate func findProblems(
    _ name: String, _ form: (any StoredForm.Type)?, _ problems: inout [FieldProblem]
  ) {
    switch self {
    case .null, .enumeration: break
    case .scalar, .string, .defaultString:
      guard let form, let stored, !form.canRead(stored) else { return }
      problems.append(FieldProblem(field: name, kind: .unreadable(description)))
    case .structure(let layout, let structure):
      for property in layout.properties {
        structure.value(of: property)
          .findProblems("\(name).\(property.swiftName)", property.form, &problems)
      }
    case .table(let layout, let table): layout.findProblems(in: table, name + ".", &problems)
    case .union(let member, let union):
      union.value(member.kind).findProblems(name, nil, &problems)
    case .vector(let elements):
      for index in 0..<elements.count {
        elements[index].findProblems("\(name)[\(index)]", form, &problems)
      }
    }
  }
}

extension StoredForm {
  fileprivate static func canRead(_ stored: Dflat.Value) -> Bool {
    Stored(_value: stored).flatMap { value($0) } != nil
  }
}
