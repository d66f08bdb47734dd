// Field problems: what an object holds that its schema does not allow, or its Swift types cannot mean.
//
// Such objects are read all the same, with what stands for the value; nothing is left out of results for it. Here it is told.

import FlatBuffersRuntime

/// Something that is wrong with a stored field, though it can be read; see ``Atom/fieldProblems``.
public struct FieldProblem: Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Kind: Hashable, Sendable {
    /// The schema requires the field, and it is not there: it reads as an empty value.
    case missing
    /// The stored value, given here, has no meaning in the Swift type: it reads as nil, or as what the type says.
    case unreadable(String)
  }

  /// The field's name in Swift, behind those of the fields that lead to it: `author.site`, `lines[2].price`.
  public let field: String
  /// What is wrong with it.
  public let kind: Kind

  /// Both in words.
  public var description: String {
    switch kind {
    case .missing: "\(field) is required and missing"
    case .unreadable(let value): "\(field) holds \(value), which cannot be read"
    }
  }
}

extension Atom {
  /// The fields of the stored object, and of what it holds, that are required and missing, or that cannot be read as their Swift type.
  ///
  /// Rows that older programs have written, or those of other languages, may have some:
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
