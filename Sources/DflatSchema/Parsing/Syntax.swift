// The syntax tree of a file, before names are resolved.
//
// Syntax nodes keep the ranges that messages point at. A declaration with a malformed body still
// has a node with the readable part, so that references to it are not reported, too.

/// A name as declared.
struct NameSyntax {
  var text: String
  var range: SourceRange
}

/// A reference to a name, `Blog.Post`.
struct PathSyntax {
  var parts: [String]
  var range: SourceRange

  var text: String { parts.joined(separator: ".") }
}

indirect enum TypeSyntax {
  case named(PathSyntax)
  case vector(TypeSyntax, SourceRange)
  case array(TypeSyntax, count: Int, SourceRange)

  var range: SourceRange {
    switch self {
    case .named(let path): path.range
    case .vector(_, let range), .array(_, _, let range): range
    }
  }
}

/// A default or an attribute's value.
struct ValueSyntax {
  indirect enum Kind {
    case integer, real, string
    /// An identifier, perhaps with a sign.
    case word
    /// `rad(180)`
    case call(argument: ValueSyntax)
    case emptyVector
    /// A malformed value that was already reported.
    case broken
  }

  var kind: Kind
  /// The literal, word or function name; a string's content.
  var text: String
  var range: SourceRange

  /// The value, worded for a message.
  var described: String {
    switch kind {
    case .integer, .real: text
    case .word: "'\(text)'"
    case .string: "the string \"\(text)\""
    case .call: "the function '\(text)'"
    case .emptyVector: "'[]'"
    case .broken: "'\(text)'"
    }
  }
}

struct AttributeSyntax {
  var name: NameSyntax
  var value: ValueSyntax?
}

struct FieldSyntax {
  var name: NameSyntax
  var type: TypeSyntax
  var defaultValue: ValueSyntax?
  var attributes: [AttributeSyntax]
  var documentation: [String]
}

/// A table or a fixed struct.
struct RecordSyntax {
  var name: NameSyntax
  var isStruct: Bool
  var attributes: [AttributeSyntax]
  var fields: [FieldSyntax]
  var documentation: [String]
  var isBroken: Bool
}

struct EnumSyntax {
  struct Value {
    var name: NameSyntax
    var value: ValueSyntax?
    var documentation: [String]
  }

  var name: NameSyntax
  var underlying: TypeSyntax?
  var attributes: [AttributeSyntax]
  var values: [Value]
  var documentation: [String]
  /// A malformed body may lack values, so their absence is not an error.
  var isBroken: Bool
}

struct UnionSyntax {
  struct Member {
    var alias: NameSyntax?
    var type: TypeSyntax
    var value: ValueSyntax?
    var documentation: [String]
  }

  var name: NameSyntax
  var attributes: [AttributeSyntax]
  var members: [Member]
  var documentation: [String]
  var isBroken: Bool
}

struct ServiceSyntax {
  struct Method {
    var name: NameSyntax
    var request: PathSyntax
    var response: PathSyntax
    var attributes: [AttributeSyntax]
  }

  var name: NameSyntax
  var attributes: [AttributeSyntax]
  var methods: [Method]
}

struct LiteralSyntax {
  var text: String
  var range: SourceRange
}

enum DeclarationSyntax {
  case namespace([String])
  case attribute(String)
  case record(RecordSyntax)
  case enumeration(EnumSyntax)
  case union(UnionSyntax)
  case service(ServiceSyntax)
  case rootType(PathSyntax)
  case fileIdentifier(LiteralSyntax)
  case fileExtension(LiteralSyntax)
}

/// A parsed file.
struct FileSyntax {
  var includes: [LiteralSyntax] = []
  var declarations: [DeclarationSyntax] = []
  /// Whether a declaration was lost because of an error; its name may be missing.
  var isIncomplete = false
}
