// The program that the compiler runs to expand Empire's macros. It is built against the compiler's
// own SwiftSyntax.

@_spi(PluginMessage) internal import SwiftCompilerPluginMessageHandling
internal import SwiftSyntaxMacros

struct UnknownMacro: Error, CustomStringConvertible {
  let name: String
  var description: String { "EmpireMacros has no macro '\(name)'" }
}

struct Provider: PluginProvider {
  private let macros: [any Macro.Type] = [
    IndexKeyRecordMacro.self, IndexMacro.self, CloudKitRecordMacro.self,
    CloudKitWebRecordMacro.self,
  ]

  func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
    for macro in macros where String(describing: macro) == typeName { return macro }
    throw UnknownMacro(name: typeName)
  }
}

let connection = try StandardIOMessageConnection()
try CompilerPluginMessageListener(connection: connection, provider: Provider()).main()
