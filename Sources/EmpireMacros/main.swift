// The program that the compiler runs to expand Empire's macros.

internal import MacroSupport

try expandMacros(
  of: "EmpireMacros",
  [
    IndexKeyRecordMacro.self, IndexMacro.self, CloudKitRecordMacro.self,
    CloudKitWebRecordMacro.self,
  ])
