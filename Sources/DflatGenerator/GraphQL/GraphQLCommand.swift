// GraphQLCommand: `dflatc graphql`, up to the files to write.
//
// Nothing is written if there is any error.

import DflatSchema
import Foundation
import GraphQLSchema

struct GraphQLCommand {
  let request: GraphQLRequest
  let errors: (String) -> Void

  private var options: EntityOptions { request.entities }
  private var client: GraphQLRequest.Client { request.client ?? .dflat }

  /// The generated files; nil after errors, which have been reported.
  func run() -> [GeneratedFile]? {
    let loaded = GraphQLSchema.Schema.load(files: request.schemas)
    report(loaded.diagnostics)
    guard let schema = loaded.value, let operations = operations(schema) else { return nil }
    let sink = DiagnosticSink()
    let checked = EntityCheck(schema: schema, options: options, sink: sink).entities()
    guard checked.errors.isEmpty, sink.errorCount == 0 else {
      report(checked.errors + sink.sorted())
      return nil
    }
    if client == .dflat, let key = options.key {
      KeyCheck(operations: operations, key: key, entities: checked.entities, sink: sink).run()
    }
    var files: [GeneratedFile] = []
    var stored: [GraphQLEntity] = []
    var isWrong = false
    for entity in checked.entities {
      let used = UsedFields(of: entity, in: operations)
      let modeler = EntityModeler(
        schema: schema, entity: entity, used: used, options: options, sink: sink,
        keys: checked.keys)
      let draft = modeler.model()
      guard sink.errorCount == 0, let (model, compiled) = final(draft) else {
        isWrong = true
        continue
      }
      stored.append(GraphQLEntity(name: entity.name, schema: compiled))
      files.append(
        GeneratedFile(name: EntityModeler.fileName(of: entity.name), text: model.text))
      files.append(InterfaceConditions(model: model).file)
      guard used.reachesEntity else {
        errors("warning: no operation selects '\(entity.name)'\n")
        continue
      }
      if client != .dflat { files.append(apolloFile(modeler, operations)) }
    }
    report(sink.sorted())
    if isWrong || sink.errorCount > 0 { return nil }
    if client == .dflat {
      guard let own = responseFiles(schema, operations, stored) else { return nil }
      files += own
    }
    return files
  }

  /// The operations of the program, validated against the schema.
  private func operations(_ schema: GraphQLSchema.Schema) -> Operations? {
    let loaded = Operations.load(files: request.documents, schema: schema)
    report(loaded.diagnostics)
    return loaded.value
  }

  /// The initialisers of an entity from Apollo's classes.
  private func apolloFile(_ modeler: EntityModeler, _ operations: Operations) -> GeneratedFile {
    let names = ApolloNames(isClassic: client == .apolloClassic, namespace: request.namespace)
    return ApolloInitialisers(
      modeler: modeler, operations: operations, names: names, imports: request.imports
    ).file()
  }

  /// Swift for the operations, without a client library; nil after errors.
  private func responseFiles(
    _ schema: GraphQLSchema.Schema, _ operations: Operations, _ entities: [GraphQLEntity]
  ) -> [GeneratedFile]? {
    var options = GraphQLResponseOptions()
    options.scalars = self.options.scalars
    options.entities = entities
    let result = GraphQLResponseGenerator(
      schema: schema, operations: operations, options: options
    ).generate()
    report(result.diagnostics)
    return result.files.isEmpty ? nil : result.files
  }

  /// The schema to write: the next one after an earlier one, if there is one; and compiled.
  private func final(_ model: EntityModel) -> (EntityModel, DflatSchema.Schema)? {
    var next: EntityModel? = model
    if case .evolving(let folder) = request.versions {
      let result = EntityEvolution(folder: folder ?? request.output).next(model)
      report(result.diagnostics)
      next = result.model
    }
    guard let next else { return nil }
    // Names that differ in GraphQL may be equal in Swift.
    let result = SchemaCompiler().compile(
      source: Array(next.alone.text.utf8), path: EntityModeler.fileName(of: model.entity))
    report(result.diagnostics)
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
