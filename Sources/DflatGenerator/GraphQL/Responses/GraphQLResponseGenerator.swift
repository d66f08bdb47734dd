// From the operations of a program to Swift that needs no client library.
//
// Each operation yields one file with its document, its variables and its data; each fragment one
// with its fields, if that is wanted; enums, input objects and what all operations share stand in
// one more file. Each entity that operations select has a file with initialisers. The texts depend
// only on the schema, the operations and the options.

public import Diagnostics
public import DflatSchema
public import GraphQLSchema

/// An entity that responses are stored as.
public struct GraphQLEntity: Sendable {
  /// The name of the GraphQL type: an object, interface or union.
  public var name: String
  /// The compiled schema that was made for the entity. Its root table has the entity's name.
  public var schema: DflatSchema.Schema

  /// Creates an entity.
  public init(name: String, schema: DflatSchema.Schema) {
    self.name = name
    self.schema = schema
  }
}

/// What is generated for the operations of a program.
public struct GraphQLResponseOptions: Sendable {
  /// The types of custom scalars: types of the FlatBuffers language, or Swift types that are
  /// `Codable`, `Hashable` and `Sendable`. Others are strings.
  public var scalars: [String: String] = [:]
  /// The entities that responses are stored as.
  public var entities: [GraphQLEntity] = []
  /// The keys of entities, interfaces and unions, by their names: a field, several with commas
  /// between them, and `sys.id` for a field of an object inside. An entity without one here has the
  /// primary fields of its table; others have the key of the entity whose objects have them.
  public var keys: [String: String] = [:]
  /// Whether `@defer` and `@stream` are sent to the server, which then answers in several parts.
  /// What is deferred is optional.
  public var isIncremental = false
  /// Whether each fragment has a structure of its own, which every structure that spreads it can
  /// make.
  public var hasFragments = false
  /// The access level of all declarations.
  public var access = AccessLevel.public

  /// Public declarations without entities; custom scalars are strings.
  public init() {}
}

/// Generates Swift for operations: `dflatc graphql --client dflat`.
///
///     let result = GraphQLResponseGenerator(schema: schema, operations: operations).generate()
///     for diagnostic in result.diagnostics { print(diagnostic.rendered()) }
public struct GraphQLResponseGenerator {
  /// What was generated.
  public struct Result: Sendable {
    /// One file for each operation, one for each fragment if the options want it, one for what they
    /// share, and one for each entity that they select; empty after an error.
    public var files: [GeneratedFile]
    /// By position: errors, and warnings about operations without names, entities whose keys cannot
    /// be selected, and fields that are stored with different arguments.
    public var diagnostics: [Diagnostic]

    /// Creates a result from its parts.
    public init(files: [GeneratedFile], diagnostics: [Diagnostic]) {
      self.files = files
      self.diagnostics = diagnostics
    }
  }

  /// The file of enums, input objects and what operations share.
  public static let sharedFileName = "GraphQLTypes_generated.swift"

  let schema: GraphQLSchema.Schema
  let operations: Operations
  let options: GraphQLResponseOptions

  /// - Parameters:
  ///   - schema: The schema.
  ///   - operations: The program's operations, which are valid.
  ///   - options: What is generated.
  public init(
    schema: GraphQLSchema.Schema, operations: Operations,
    options: GraphQLResponseOptions = GraphQLResponseOptions()
  ) {
    self.schema = schema
    self.operations = operations
    self.options = options
  }

  /// The Swift names of operations' types, by the names of the operations: in Pascal case, or as
  /// they are where that gives two the same name.
  /// - Parameter taken: The names of other types, which operations do not get.
  static func typeNames(
    of operations: [OperationSyntax], avoiding taken: Set<String> = []
  ) -> [String: String] {
    func typeName(_ name: String, _ kind: OperationKind) -> String {
      let kind = NameCase.pascal(kind.rawValue)
      return name.hasSuffix(kind) ? name : name + kind
    }
    let named = operations.compactMap { operation in
      operation.name.map { (name: $0.text, kind: operation.kind) }
    }
    var names: [String: String] = [:]
    var counts: [String: Int] = [:]
    for (name, kind) in named { counts[typeName(NameCase.pascal(name), kind), default: 0] += 1 }
    var used = taken
    for (name, kind) in named {
      var type = typeName(NameCase.pascal(name), kind)
      if counts[type] != 1 {
        type = typeName(name.prefix(1).uppercased() + name.dropFirst(), kind)
      }
      while !used.insert(type).inserted { type += "_" }
      names[name] = type
    }
    return names
  }

  /// The files and what is to be said about the operations.
  public func generate() -> Result {
    let sink = DiagnosticSink()
    let entityNames = Set(options.entities.flatMap { [$0.name, camel($0.name)] })
    // In an entity, a table of its schema hides an operation with the same name.
    let tableNames = options.entities.flatMap { $0.schema.types.keys.map(\.name) }
    let names = Self.typeNames(
      of: operations.operations, avoiding: entityNames.union(tableNames))
    let types = ResponseTypes(
      schema: schema, scalars: options.scalars,
      operations: Set(names.values), entities: entityNames)
    let references = Dictionary(
      uniqueKeysWithValues: options.entities.map { entity in
        (EntityModeler.referenceName(of: entity.name, in: schema), entity.name)
      })
    let entities = options.entities.compactMap {
      EntityTables(
        $0, schema, key: options.keys[$0.name].flatMap(EntityKey.init), references: references)
    }
    let access = options.access
    let initialisers = EntityInitialisers(types: types, access: access)
    let argumentCheck = ArgumentCheck(sink: sink)
    let possibleTypes = PossibleTypes(schema)
    let addedKeys = AddedKeys(
      to: operations, of: entities, possibleTypes, isIncremental: options.isIncremental)
    func collector() -> SelectionCollector {
      SelectionCollector(
        schema: schema, operations: operations, sink: sink, possibleTypes: possibleTypes,
        addedKeys: addedKeys, tellsTypes: !entities.isEmpty, isIncremental: options.isIncremental)
    }
    var fragments = FragmentTypes()
    if options.hasFragments {
      fragments = FragmentTypes(
        operations, avoiding: types.reserved.union(entityNames).union(names.values)
      ) { type, set in
        var collector = collector()
        return collector.object(type, origin: nil, [.init(set: set, conditions: [])])
      }
    }
    let conversions = FragmentConversions(fragments: fragments, types: types, access: access)
    var files: [GeneratedFile] = []
    for operation in operations.operations {
      guard let name = operation.name.flatMap({ names[$0.text] }),
        let root = schema.rootType(of: operation.kind)
      else {
        sink.warning(
          "no Swift is made for an operation without a name", at: operation.keywordRange,
          notes: [.hint("give it a name: '\(operation.kind.rawValue) Name { … }'")])
        continue
      }
      var collector = collector()
      let data = collector.object(
        root, origin: nil, [.init(set: operation.selectionSet, conditions: [])])
      if sink.errorCount > 0 { continue }
      let document = DocumentPrinter.lines(
        operation, operations, extended: collector.extended, addedKeys,
        isIncremental: options.isIncremental)
      let writer = OperationWriter(
        name: name, operation: operation, data: data, document: document, types: types,
        store: StoreWriter(
          types: types, entities: entities, initialisers: initialisers,
          argumentCheck: argumentCheck,
          sink: sink, schema: schema, keys: options.keys.compactMapValues(EntityKey.init)),
        conversions: conversions, access: access)
      files.append(GeneratedFile(name: "\(name)_generated.swift", text: writer.text()))
    }
    if sink.errorCount == 0 { files += conversions.files() }
    let shared = SharedTypesWriter(types: types, access: access)
    files.append(GeneratedFile(name: Self.sharedFileName, text: shared.text()))
    files += entities.compactMap(initialisers.file)
    return Result(
      files: sink.errorCount == 0 ? Self.withoutEqualNames(files) : [], diagnostics: sink.sorted())
  }

  /// Gives other names to files whose names differ in case alone: for some file systems they are
  /// the same.
  private static func withoutEqualNames(_ files: [GeneratedFile]) -> [GeneratedFile] {
    let end = "_generated.swift"
    var used: Set<String> = []
    return files.map { file in
      var name = file.name
      while !used.insert(name.lowercased()).inserted { name = name.dropLast(end.count) + "_" + end }
      return GeneratedFile(name: name, text: file.text)
    }
  }
}
