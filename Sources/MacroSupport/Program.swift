// The program that the compiler runs to expand macros. It is built against the compiler's own
// SwiftSyntax.

@_spi(PluginMessage) internal import SwiftCompilerPluginMessageHandling
package import SwiftSyntaxMacros

/// A request for a macro that the program does not have.
struct UnknownMacro: Error, CustomStringConvertible {
  let module: String
  let name: String
  var description: String { "\(module) has no macro '\(name)'" }
}

private struct Provider: PluginProvider {
  let module: String
  let macros: [any Macro.Type]

  func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
    for macro in macros where String(describing: macro) == typeName { return macro }
    throw UnknownMacro(module: module, name: typeName)
  }
}

/// Answers the compiler's requests until it closes the connection.
/// - Parameters:
///   - module: The name of the module, for messages.
///   - macros: Its macros.
package func expandMacros(of module: String, _ macros: [any Macro.Type]) throws {
  let connection = try StandardIOMessageConnection()
  try CompilerPluginMessageListener(
    connection: connection, provider: Provider(module: module, macros: macros)
  ).main()
}
