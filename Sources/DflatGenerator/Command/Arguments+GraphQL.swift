// The arguments of `dflatc graphql`.

import DflatSchema
import Foundation

/// `dflatc graphql`.
struct GraphQLRequest: Equatable {
  /// For which classes initialisers are made.
  enum Client: String, CaseIterable, Decodable {
    /// Code of our own that needs no client library.
    case dflat
    /// Apollo iOS before 1.0.
    case apolloClassic = "apollo-classic"
    /// Apollo iOS 1.x.
    case apollo
  }

  /// How an entity's version changes.
  enum Versions: Equatable {
    /// With each change of the used fields.
    case hashed
    /// Only if the earlier schema in the folder is incompatible; nil is the output folder.
    case evolving(String?)
  }

  var output = ""
  var schemas: [String] = []
  var documents: [String] = []
  var entities = EntityOptions()
  /// nil stands for `dflat`.
  var client: Client?
  /// The enum or module that has the client's types.
  var namespace: String?
  /// The modules that generated code imports.
  var imports: [String] = []
  var access: AccessLevel?
  /// nil stands for `hashed`.
  var versions: Versions?
  /// A configuration file with settings that the command line does not have.
  var configuration: String?
  /// In how many files all Swift goes, so that their names are known before; nil for a file of each
  /// operation and entity.
  var fileCount: Int?
  /// Whether `@defer` and `@stream` are sent to the server.
  var isIncremental = false
  /// Whether fragments have structures.
  var hasFragments = false
  /// Whether only the schemas of entities are written.
  var isSchemasOnly = false
  /// What happens if the schema of an entity is not the committed one.
  var commitment = Commitment.none
  /// The folder of the configuration file, where a target's schemas are committed.
  var folder: String?

  /// What happens if the schema of an entity is not the committed one.
  enum Commitment: Equatable {
    /// It is written, with a warning if it is written to another folder.
    case none
    /// It is an error, with a command that writes the schema. An entity may have none yet.
    case locked(remedy: String?)
    /// Nothing is written, and everything that would be has to be there.
    case checked
  }

  /// Where the committed schemas are: in the folder that they evolve from, or where they are
  /// written.
  var committedFolder: String {
    if case .evolving(let folder?) = versions { return folder }
    return commitment == .checked && !output.isEmpty ? output : folder ?? output
  }

  /// Whether the schemas that are written are those that the next ones evolve from.
  var writesCommitted: Bool {
    guard case .evolving(let folder?) = versions else { return true }
    return URL(filePath: folder).standardizedFileURL.path()
      == URL(filePath: output).standardizedFileURL.path()
  }
}

extension GraphQLRequest {
  /// Whether everything is there that the command needs.
  func check() throws(UsageError) {
    if output.isEmpty, commitment != .checked {
      throw UsageError(message: "-o DIR is missing: where are the schemas to go?")
    }
    if committedFolder.isEmpty, commitment == .checked {
      throw UsageError(message: "-o DIR is missing: where are the files that are to be checked?")
    }
    if schemas.isEmpty {
      throw UsageError(message: "-S FILE is missing: which schema are the operations for?")
    }
    // Without entities there is still Swift for the operations, but only of our own.
    if entities.entities.isEmpty, client == .apollo || client == .apolloClassic {
      throw UsageError(message: "--entity NAME is missing: which type is to be stored?")
    }
    if documents.isEmpty {
      throw UsageError(message: "no file with operations is given; for example hero.graphql")
    }
    let client = client ?? .dflat
    if client != .dflat,
      let name = entities.scalars.keys.sorted().first(where: {
        entities.scalars[$0].map { ScalarMapping($0).form } != .some(nil)
      })
    {
      throw UsageError(
        message: "--scalar \(name)=\(entities.scalars[name] ?? "") is for --client dflat; "
          + "give the stored type alone")
    }
    if isIncremental, client != .dflat {
      throw UsageError(message: "--incremental is for --client dflat")
    }
    if hasFragments, client != .dflat {
      throw UsageError(message: "--fragments is for --client dflat")
    }
    if entities.keyType != nil, entities.key == nil, entities.keys.isEmpty {
      throw UsageError(message: "--primary-key-type needs --primary-key")
    }
  }
}

extension Request {
  private static let graphQLOptions = [
    "--output", "--schema", "--entity", "--primary-key", "--primary-key-type", "--scalar",
    "--client", "--access", "--api-namespace", "--import", "--config", "--single-file",
    "--schemas-only", "--incremental", "--fragments", "--check", "--locked", "--files",
    "--hash-versions",
    "--evolve", "--help",
  ]

  static func graphQL(_ arguments: ArraySlice<String>) throws(UsageError) -> Request {
    var request = GraphQLRequest()
    var seen: Set<String> = []
    var line = OptionReader(arguments, long: graphQLOptions)
    while let argument = line.next() {
      guard case .option(let option, let attached) = argument else {
        request.documents.append(argument.text)
        continue
      }
      let single = [
        "-o": "--output", "--output": "--output", "--primary-key-type": "--primary-key-type",
        "--client": "--client",
        "--api-namespace": "--api-namespace", "--config": "--config", "--files": "--files",
      ]
      if let name = single[option], !seen.insert(name).inserted {
        throw UsageError(message: "\(option) is given twice")
      }
      switch option {
      case "-o", "--output": request.output = try line.value(of: argument)
      case "-S", "--schema": request.schemas.append(try line.value(of: argument))
      case "--entity":
        let name = try line.value(of: argument, "a type")
        if request.entities.entities.contains(name) {
          throw UsageError(message: "--entity \(name) is given twice")
        }
        request.entities.entities.append(name)
      case "--primary-key": try primaryKey(try line.value(of: argument, "a field"), &request)
      case "--primary-key-type":
        request.entities.keyType = try line.choice(
          of: argument, EntityOptions.KeyType.self, "a type")
      case "--scalar": try scalar(try line.value(of: argument, "NAME=TYPE"), &request)
      case "--client":
        request.client = try line.choice(of: argument, GraphQLRequest.Client.self, "a name")
      case "--access": request.access = try line.access(of: argument, after: request.access)
      case "--api-namespace": request.namespace = try line.path(of: argument, "a name")
      case "--import": request.imports.append(try line.path(of: argument, "a module"))
      case "--config": request.configuration = try line.value(of: argument)
      case "--single-file", "--schemas-only", "--incremental", "--fragments":
        if attached != nil { throw UsageError(message: "\(option) takes no value") }
        switch option {
        case "--single-file": request.fileCount = 1
        case "--schemas-only": request.isSchemasOnly = true
        case "--fragments": request.hasFragments = true
        default: request.isIncremental = true
        }
      case "--check", "--locked":
        if request.commitment != .none {
          throw UsageError(message: "--check and --locked are given together, or twice")
        }
        if option == "--check", attached != nil {
          throw UsageError(message: "\(option) takes no value")
        }
        request.commitment = option == "--check" ? .checked : .locked(remedy: attached)
      case "--files":
        let text = try line.value(of: argument, "a number")
        guard let count = Int(text), (1...1000).contains(count) else {
          throw UsageError(message: "--files needs a number from 1 to 1000, not '\(text)'")
        }
        request.fileCount = count
      case "--hash-versions":
        if attached != nil { throw UsageError(message: "\(option) takes no value") }
        seen.insert(option)
      case "--evolve":
        if attached == "" { throw UsageError(message: "--evolve= needs a path behind it") }
        request.versions = .evolving(attached)
      case "-h", "--help": return .help("graphql")
      default:
        throw UsageError(
          message: "'dflatc graphql' has no option '\(argument.text)'" + line.guess(argument))
      }
    }
    if seen.contains("--hash-versions") {
      if request.versions != nil {
        throw UsageError(message: "--hash-versions and --evolve contradict each other")
      }
      request.versions = .hashed
    }
    if request.configuration == nil { try request.check() }
    return .graphQL(request)
  }

  private static func primaryKey(
    _ text: String, _ request: inout GraphQLRequest
  ) throws(UsageError) {
    func key(_ text: Substring) throws(UsageError) -> EntityKey {
      if let key = EntityKey(String(text)) { return key }
      throw UsageError(
        message:
          "--primary-key cannot be '\(text)'; a key is a field, such as id, several, such as "
          + "sku,region, or one in an object, such as sys.id")
    }
    guard let equals = text.firstIndex(of: "=") else {
      if request.entities.key != nil { throw UsageError(message: "--primary-key is given twice") }
      request.entities.key = try key(text[...])
      return
    }
    let name = String(text[..<equals])
    guard !name.isEmpty, text.last != "=" else {
      throw UsageError(message: "--primary-key needs FIELD or TYPE=FIELD, not '\(text)'")
    }
    let new = try key(text[text.index(after: equals)...])
    if request.entities.keys.updateValue(new, forKey: name) != nil {
      throw UsageError(message: "--primary-key is given twice for \(name)")
    }
  }

  private static func scalar(
    _ text: String, _ request: inout GraphQLRequest
  ) throws(UsageError) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw UsageError(message: "--scalar needs NAME=TYPE, not '\(text)'")
    }
    let (name, type) = (String(text[..<equals]), String(text[text.index(after: equals)...]))
    let types = ScalarMapping.storedTypes
    guard ScalarMapping.isValid(type) else {
      let guess = nearest(to: type, among: types).map { "did you mean '\($0)'? The " } ?? "the "
      throw UsageError(
        message: "--scalar \(name) cannot be '\(type)'; \(guess)choices are "
          + types.joined(separator: ", ") + ", types of Swift such as Date, which are stored as "
          + "text, and both, such as long:Date")
    }
    if request.entities.scalars.updateValue(type, forKey: name) != nil {
      throw UsageError(message: "--scalar \(name) is given twice")
    }
  }
}
