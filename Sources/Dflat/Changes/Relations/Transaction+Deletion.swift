// Deletions that follow the rules of references.
//
// Everything happens in the transaction that deletes an object, which has enqueued for the types
// that the rules can reach (`TypeSet.addTypesOfDeletion`). First a plan is made, which reads only;
// then objects lose keys, and then objects are deleted. So each object is written once for each way
// in which it is concerned, and observers see one change of it.

import FlatBuffersRuntime

extension Transaction {
  /// Deletes an object, and follows the rules of the references to it.
  func deleteFollowingRules(_ known: Row, _ schema: EntitySchema) throws {
    if schema.referrers.isEmpty { return try remove(known, schema) }
    let plan = try planning { writer -> DeletionPlan? in
      // The object may have another key by now.
      guard let row = try stored(known, schema, writer) else { return nil }
      return try DeletionPlan(schema, [(known.id, row.read { schema.key($0) })], in: writer)
    }
    if let plan { try carryOut(plan) } else { try remove(known, schema) }
  }

  /// What the deletion of an object does; nothing is changed.
  func effects(ofDeleting known: Row, _ schema: EntitySchema) throws -> [DeletionEffect] {
    let plan = try planning {
      try DeletionPlan(schema, [(known.id, known.read { schema.key($0) })], in: $0)
    }
    return plan.parts.map { part in
      DeletionEffect(
        table: part.schema.table, deleted: part.ids.sorted(),
        changed: part.nullified.keys.filter { !part.deleted.contains($0) }.sorted())
    }
  }

  /// The row of an object as it is now. A damaged one counts as it was fetched.
  private func stored(
    _ known: Row, _ schema: EntitySchema, _ writer: any StorageWriter
  ) throws -> Row? {
    do { return try writer.row(of: schema, id: known.id) } catch let error as StorageError
      where error.cause == .corruptRow
    {
      return known
    }
  }

  /// Deletes the objects of a query, and follows the rules of the references to them.
  /// - Returns: The number of the query's objects.
  func deleteFollowingRules(_ query: Query) throws -> Int {
    let schema = query.schema
    var keys: [Int64: KeyValues] = [:]
    var ids: [Int64] = []
    let plan = try planning { writer -> DeletionPlan in
      _ = try writer.scan(.query(query), .rows) { row in
        guard let table = TableReader(root: row.bytes) else { return true }
        keys[row.id] = schema.key(table)
        return true
      }
      // These include objects that are damaged, of which nothing is known but the id.
      ids = try writer.ids(toDelete: query)
      return try DeletionPlan(schema, ids.map { ($0, keys[$0]) }, in: writer)
    }
    try carryOut(plan)
    return ids.count
  }

  /// Deletes the objects with some ids and keys, and follows the rules of the references to them.
  func deleteFollowingRules(
    _ objects: [(id: Int64, key: KeyValues?)], _ schema: EntitySchema
  ) throws {
    try carryOut(try planning { try DeletionPlan(schema, objects, in: $0) })
  }

  /// Makes a plan, which changes nothing. A failure of the storage ends the transaction; what is
  /// refused does not.
  func planning<Plan>(_ body: (any StorageWriter) throws -> Plan) throws -> Plan {
    do { return try written(body) } catch {
      if !isAborted, error is StorageError { fail(error) }
      throw error
    }
  }

  /// Changes and deletes what a plan says. An error ends the transaction, since a part may be done.
  private func carryOut(_ plan: DeletionPlan) throws {
    do { try apply(plan) } catch {
      if !isAborted { fail(error) }
      throw error
    }
  }

  private func apply(_ plan: DeletionPlan) throws {
    for part in plan.parts {
      for (id, references) in part.nullified.sorted(by: { $0.key < $1.key })
      where !part.deleted.contains(id) {
        try removeKeys(references, from: id, part.schema) { target in
          plan.parts.first { $0.schema === target }?.keys ?? []
        }
      }
    }
    for part in plan.parts where !part.ids.isEmpty {
      try removeAll(part.ids, changedType(part.schema))
    }
  }

  /// Removes the keys of deleted objects from some fields of an object.
  private func removeKeys(
    _ references: [EntityReference], from id: Int64, _ schema: EntitySchema,
    deleted: (EntitySchema) -> Set<KeyValues>
  ) throws {
    try write { writer, builder in
      guard let row = try writer.row(of: schema, id: id) else { return }
      var fields = FieldSet.none
      var vectors: [(offset: Int, vector: FlatBufferBuilder.Offset)] = []
      for reference in references {
        for offset in reference.offsets { fields.insert(offset) }
        let reader = ReferenceReader(schema, reference.offsets)
        guard reader.isVector, let offset = reference.offsets.first else { continue }
        let gone = deleted(reference.target)
        var kept = EncodedElements(ElementVariable([schema.root], offset).kind)
        row.read { table in
          reader.forEachKey(table) { values in
            guard let key = reader.key(values), !gone.contains(key) else { return }
            if case .string(let text) = key.first {
              kept.append(.offset(builder.string(text)), to: builder)
            } else {
              kept.append(.scalar(reader.types[0], key.first), to: builder)
            }
          }
        }
        if case .offset(let vector) = kept.finish(in: builder) {
          vectors.append((offset, vector))
        }
      }
      builder.startTable(slotCount: schema.layout.slotCount)
      for (offset, vector) in vectors { builder.add(vector, at: offset) }
      builder.finish(builder.endTable())
      _ = try replace(row, fields, builder.bytes, schema, writer)
    }
  }
}
