// @CloudKitRecord: generates the conversion of a type to and from CloudKit records.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

struct CloudKitRecordMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    // The initializer stands in an extension, where only a struct can have one.
    guard declaration.is(StructDeclSyntax.self) else {
      context.reportError(declaration.introducer, "noStruct", "@CloudKitRecord needs a struct")
      return []
    }
    guard checkAccess(of: declaration, "@CloudKitRecord", in: context),
      let properties = storedProperties(of: declaration, for: .names, in: context)
    else {
      return []
    }
    let writing = properties.map { "_record[\($0.name.literal)] = self.\($0.identifier)" }
    let reading = properties.map {
      "self.\($0.identifier) = try ckRecord.getTypedValue(for: \($0.name.literal))"
    }
    let writer =
      (["let _record: CKRecord = .init(recordType: Self.ckRecordType, recordID: recordId)"]
      + writing + ["return _record"]).lines
      .wrapped(in: "public func ckRecord(with recordId: CKRecord.ID) -> CKRecord")
    let reader =
      (["try ckRecord.validateRecordType(Self.ckRecordType)"] + reading).lines
      .wrapped(in: "public init(ckRecord: CKRecord) throws")
    let text = [writer, reader].joined(separator: "\n\n")
      .wrapped(in: "nonisolated extension \(type.trimmedDescription): CloudKitRecord")
    return [try ExtensionDeclSyntax("\(raw: text)")]
  }
}
