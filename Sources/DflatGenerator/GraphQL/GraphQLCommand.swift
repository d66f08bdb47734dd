// GraphQLCommand: `dflatc graphql`, up to the files to write.
//
// Nothing is written if there is any error.

import DflatSchema
import Foundation
import GraphQLSchema

struct GraphQLCommand {
  let request: GraphQLRequest
  let errors: (String) -> Void

  private var options: EntityOptions {
    var options = request.entities
    // Hashed versions are upstream's, and so is what they are made of.
    options.refersByText = (request.versions ?? .hashed) == .hashed
    return options
  }
  private var access: AccessLevel { request.access ?? .public }
  private var client: GraphQLRequest.Client { request.client ?? .dflat }

  /// The generated files; nil after errors, which have been reported.
  func run() -> [GeneratedFile]? {
    let loaded = GraphQLSchema.Schema.load(files: request.schemas)
    report(loaded.diagnostics)
    guard let schema = loaded.value, let operations = operations(schema) else { return nil }
    let difficult = ([options.key].compactMap { $0 } + options.keys.values)
      .filter { $0.plainName == nil }.map(\.text).min()
    if client != .dflat, let difficult {
      errors(
        "error: the key '\(difficult)' cannot be read from Apollo's classes: give one field of the "
          + "object itself, or leave out --client \(client.rawValue)\n")
      return nil
    }
    let sink = DiagnosticSink()
    let checked = EntityCheck(schema: schema, options: options, sink: sink).entities()
    guard checked.errors.isEmpty, sink.errorCount == 0 else {
      report(checked.errors + sink.sorted())
      return nil
    }
    let modelers = checked.entities.map { entity in
      EntityModeler(
        schema: schema, entity: entity, used: UsedFields(of: entity, in: operations),
        options: options, sink: sink, keys: checked.keys, keepsNull: keepsNull(of: entity))
    }
    let drafts = RelationPruning.pruned(modelers.map { $0.model() })
    var finished: [Entity] = []
    for (modeler, draft) in zip(modelers, drafts) {
      guard sink.errorCount == 0, let (model, compiled) = final(draft, of: schema)
      else { continue }
      finished.append(Entity(modeler: modeler, model: model, schema: compiled))
      if modeler.used.isEmpty { errors("warning: no operation selects '\(model.entity)'\n") }
    }
    guard finished.count == checked.entities.count else {
      report(sink.sorted())
      return nil
    }
    let client =
      request.isSchemasOnly
      ? GraphQLResponseGenerator.Result(files: [], diagnostics: [])
      : clientFiles(finished, operations)
    report(sink.sorted() + client.diagnostics)
    if sink.errorCount > 0 || client.diagnostics.contains(where: { $0.severity == .error }) {
      return nil
    }
    return finished.flatMap { entity in
      [
        GeneratedFile(
          name: EntityModeler.fileName(of: entity.model.entity), text: entity.model.text),
        InterfaceConditions(model: entity.model, level: access).file,
      ]
    } + client.files
  }

  /// An entity whose schema is ready to be written.
  private struct Entity {
    let modeler: EntityModeler
    let model: EntityModel
    /// The schema without relations to other files.
    let schema: DflatSchema.Schema
  }

  /// Whether null is kept apart: in schemas that are continued, from the first one. One that is
  /// made again by each build has what programs without a committed schema rely on.
  private func keepsNull(of entity: NamedType) -> Bool {
    guard case .evolving(let folder) = request.versions else { return false }
    let path = "\(folder ?? request.output)/\(EntityModeler.fileName(of: entity.name))"
    return request.writesCommitted || FileManager.default.fileExists(atPath: path)
  }

  /// The operations of the program, validated against the schema.
  private func operations(_ schema: GraphQLSchema.Schema) -> Operations? {
    let loaded = Operations.load(files: request.documents, schema: schema)
    report(loaded.diagnostics)
    return loaded.value
  }

  /// What the program needs for its client library.
  private func clientFiles(
    _ entities: [Entity], _ operations: Operations
  ) -> GraphQLResponseGenerator.Result {
    switch client {
    case .dflat:
      var options = GraphQLResponseOptions()
      options.access = access
      options.isIncremental = request.isIncremental
      options.hasFragments = request.hasFragments
      options.scalars = self.options.scalars.mapValues { ScalarMapping($0).type }
      for type in operations.schema.types
      where type.isAbstract || self.options.isEntity(type) {
        options.keys[type.name] = self.options.key(of: type, in: operations.schema)?.text
      }
      options.entities = entities.map {
        GraphQLEntity(name: $0.model.entity, schema: $0.schema)
      }
      return GraphQLResponseGenerator(
        schema: operations.schema, operations: operations, options: options
      ).generate()
    case .apolloClassic, .apollo:
      let names = ApolloNames(
        isClassic: client == .apolloClassic, namespace: request.namespace)
      let files = entities.filter(\.modeler.used.reachesEntity).map { entity in
        ApolloInitialisers(
          modeler: entity.modeler, operations: operations, names: names, imports: request.imports,
          access: access
        ).file()
      }
      return GraphQLResponseGenerator.Result(files: files, diagnostics: [])
    }
  }

  /// The schema to write: the next one after an earlier one, if there is one, and compiled.
  private func final(
    _ model: EntityModel, of schema: GraphQLSchema.Schema
  ) -> (EntityModel, DflatSchema.Schema)? {
    var next: EntityModel? = model
    if case .evolving(let folder) = request.versions {
      let result = EntityEvolution(folder: folder ?? request.output).next(model)
      report(result.diagnostics)
      next = result.model
    }
    guard let next else { return nil }
    if request.commitment != .none || !request.writesCommitted {
      let committed = CommittedSchema(
        folder: request.committedFolder, commitment: request.commitment)
      let faults = committed.faults(of: next)
      report(faults)
      if faults.contains(where: { $0.severity == .error }) { return nil }
    }
    // Names that differ in GraphQL may be equal in Swift.
    let result = SchemaCompiler().compile(
      source: Array(next.alone.text.utf8), path: EntityModeler.fileName(of: model.entity))
    report(result.diagnostics.map { next.alone.withOrigin($0, in: schema) })
    return result.schema.map { (next, $0) }
  }

  /// Prints diagnostics, each once: several entities may have the same one.
  private func report(_ diagnostics: [Diagnostic]) {
    var printed: Set<String> = []
    for text in diagnostics.map({ $0.rendered() }) where printed.insert(text).inserted {
      errors(text + "\n")
    }
  }
}
