// @CloudKitWebRecord: generates the conversion of a type to and from records of CloudKit Web
// Services.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

struct CloudKitWebRecordMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard declaration.is(StructDeclSyntax.self) else {
      context.reportError(declaration.introducer, "noStruct", "@CloudKitWebRecord needs a struct")
      return []
    }
    guard checkAccess(of: declaration, "@CloudKitWebRecord", in: context),
      let properties = storedProperties(of: declaration, for: .names, in: context)
    else {
      return []
    }
    let access = memberAccess(of: declaration, in: context)
    let writing = properties.map { "try _record.set(\($0.name.literal), self.\($0.identifier))" }
    let reading = properties.map { "self.\($0.identifier) = try _record.get(\($0.name.literal))" }
    let writer =
      ([
        "\(properties.isEmpty ? "let" : "var") _record: Empire.CloudKitJSONRecord = .init("
          + "recordType: Self.cloudKitRecordType, recordName: _name)"
      ] + writing + ["return _record"]).lines
      .wrapped(
        in: "\(access)func cloudKitJSON(name _name: String) throws -> Empire.CloudKitJSONRecord")
    let reader =
      (["try _record.check(Self.cloudKitRecordType)"] + reading).lines
      .wrapped(in: "\(access)init(cloudKitJSON _record: Empire.CloudKitJSONRecord) throws")
    let text = [writer, reader].joined(separator: "\n\n")
      .wrapped(in: "nonisolated extension \(type.trimmedDescription): Empire.CloudKitWebRecord")
    return [try ExtensionDeclSyntax("\(raw: text)")]
  }
}
