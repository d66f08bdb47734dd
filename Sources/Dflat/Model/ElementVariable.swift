// Elements of vectors in conditions: `Post.comments.any { $0.likes > 3 }`.
//
// The element is a variable of the condition. Its fields are field descriptors that begin at the
// variable instead of the root of a row. Invariants:
//
//  - Each call of `any` or `all` has a variable of its own, and the storage names of its fields
//    contain the variable's identity. So they are never equal to the names of other fields.
//  - No field of an element has a column.

/// The element that a condition on the elements of a vector is about.
@usableFromInline package final class ElementVariable: Sendable {
  /// The vector; several if a union on the path has aliases for one type.
  let vectors: [FieldDescriptor]
  /// The way to the object that has the vector; nil if it is the row's own object.
  let relation: TargetPath?
  /// The type of the elements.
  let kind: Property.Kind
  let form: (any StoredForm.Type)?

  /// - Parameters:
  ///   - containers: The table with the vector, under each alias.
  ///   - offset: The vtable offset of the vector.
  init(_ containers: [FieldPath], _ offset: Int) {
    vectors = containers.map { $0.ownVector(offset) }
    relation = containers[0].relation
    guard case .vector(let kind)? = containers[0].property(offset)?.kind else {
      preconditionFailure("there is no vector at \(offset) in the layout")
    }
    self.kind = kind
    form = containers[0].property(offset)?.form
  }

  /// The same elements, of a row that has the vector itself.
  init(of other: ElementVariable) {
    vectors = other.vectors
    kind = other.kind
    form = other.form
    relation = nil
  }

  /// The storage name of the element, which no other variable has.
  private var path: String {
    "\(vectors[0].path)[\(UInt(bitPattern: ObjectIdentifier(self).hashValue))]"
  }

  /// The element, if it is a scalar, enum or string.
  var value: FieldDescriptor {
    let type: ValueType
    var domain: FieldDomain?
    switch kind {
    case .scalar(let scalar, _): type = scalar
    case .enumeration(let layout, _):
      let layout = layout()
      type = layout.type
      // As in structs: an unknown value reads as 0, or as the first value.
      let others = layout.knows(0) ? 0 : layout.values.first?.value
      domain = layout.isBitFlags ? nil : FieldDomain(known: layout.known, others: others)
    default: type = .string
    }
    return FieldDescriptor(
      path: path, type: type, steps: [.element(self)], leaf: .element, defaultValue: nil,
      domain: domain, form: form, column: nil)
  }

  /// The element, if it is a table, struct or union.
  var reference: FieldPath {
    let name = path + "__"
    switch kind {
    case .table(let layout):
      return FieldPath(name: name, steps: [.element(self)], place: .table(layout()))
    case .structure(let layout):
      return FieldPath(
        name: name, steps: [.elementStructure(self, size: layout().size)],
        place: .structure(layout(), base: 0))
    case .union(let layout):
      return FieldPath(name: name, steps: [.element(self)], place: .union(layout(), self))
    default: preconditionFailure("the elements of \(path) have no fields")
    }
  }

  /// The fields of the root table that the element depends on; see `FieldSet.mask`.
  var rootMask: UInt64 {
    (relation?.keys ?? vectors).reduce(0) { $0 | $1.rootMask }
  }
}

extension ElementVariable: Hashable {
  /// Whether both are the same variable.
  @usableFromInline
  package static func == (lhs: ElementVariable, rhs: ElementVariable) -> Bool { lhs === rhs }

  /// Hashes the identity.
  @usableFromInline
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension FieldPath {
  /// The number of elements of the vector at an offset: the descriptor of the vector itself.
  func vector(_ offset: Int) -> FieldDescriptor {
    let vector = ownVector(offset)
    return relation.map { FieldDescriptor(through: $0, vector) } ?? vector
  }

  /// The same in the schema of the object that has the vector.
  fileprivate func ownVector(_ offset: Int) -> FieldDescriptor {
    guard case .vector(let kind)? = property(offset)?.kind else {
      preconditionFailure("there is no vector \(name)f\(offset) in the layout")
    }
    let leaf: FieldLeaf =
      if case .union(let layout) = kind {
        .unionCount(offset, tags: layout().members.map(\.tag))
      } else {
        .vectorCount(offset, stride: kind.inlineSize)
      }
    return FieldDescriptor(
      path: name + "f\(offset)", type: .int64, steps: steps, leaf: leaf, defaultValue: nil,
      domain: nil, column: nil)
  }
}

extension FieldDescriptor {
  /// The same field of the element that another variable stands for.
  func moved(to variable: ElementVariable) -> FieldDescriptor {
    if let related {
      let keys = related.keys.map { $0.moved(to: variable) }
      return FieldDescriptor(related.with(keys), self, name: path)
    }
    if !alternatives.isEmpty {
      return FieldDescriptor(oneOf: alternatives.map { $0.moved(to: variable) })
    }
    let first: FieldStep =
      switch steps.first {
      case .elementStructure(_, let size)?: .elementStructure(variable, size: size)
      case .elementMember(_, let tag)?: .elementMember(variable, tag: tag)
      case .elementStructureMember(_, let tag, let size)?:
        .elementStructureMember(variable, tag: tag, size: size)
      default: .element(variable)
      }
    return FieldDescriptor(
      path: "\(path)[\(UInt(bitPattern: ObjectIdentifier(variable).hashValue))]", type: type,
      steps: [first] + steps.dropFirst(), leaf: leaf, defaultValue: defaultValue, domain: domain,
      form: form, column: nil)
  }

  /// The variable at which the path begins; nil if it begins at the root of the row.
  var element: ElementVariable? {
    switch steps.first {
    case .element(let variable)?, .elementStructure(let variable, _)?,
      .elementMember(let variable, _)?, .elementStructureMember(let variable, _, _)?:
      variable
    default: nil
    }
  }
}
