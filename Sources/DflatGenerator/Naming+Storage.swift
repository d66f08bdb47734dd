// Temporary until merge
import DflatSchema
extension Schema {
  func tableName(of entity: QualifiedName) -> String {
    let name = (entity.namespace + [camel(entity.name)]).map { $0.lowercased() }.joined(
      separator: "__")
    guard case .table(let table) = types[entity], let version = table.version else { return name }
    return name + "_v"
      + version.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "_")
  }
  func indexPaths(of entity: QualifiedName) -> [(path: String, isUnique: Bool)] {
    guard case .table(let table) = types[entity] else { return [] }
    return table.fields.filter { $0.isIndexed || $0.isUnique }.map {
      ("f\($0.offset)", $0.isUnique)
    }
  }
}
