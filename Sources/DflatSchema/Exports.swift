// Results of this module contain diagnostics, so its users get their module with it.

@_exported public import Diagnostics
