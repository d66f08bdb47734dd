// The program that the compiler runs to expand Silo's macros.

internal import MacroSupport

try expandMacros(
  of: "SiloMacros",
  [
    PersistableMacro.self, EntityVersionMacro.self, PersistableValueMacro.self,
    PropertyMarkMacro.self, QueryNamesMacro.self,
  ])
