import PackagePlugin
@main struct DflatCommand: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {}
}
