// Strongly connected components with Tarjan's algorithm, without recursion: a history may be longer
// than the stack.

extension DependencyGraph {
  /// The components of more than one node. Every cycle lies within one of them.
  func cyclicComponents() -> [[Int]] {
    var components: [[Int]] = []
    // 0 means that the node was not visited yet.
    var index = [Int32](repeating: 0, count: nodeCount)
    var low = [Int32](repeating: 0, count: nodeCount)
    var isOnStack = [Bool](repeating: false, count: nodeCount)
    var stack: [Int] = []
    var path: [(node: Int, next: Int)] = []
    var count: Int32 = 0

    for root in 0..<nodeCount where index[root] == 0 {
      path.append((root, starts[root]))
      while let (node, next) = path.last {
        if index[node] == 0 {
          count += 1
          index[node] = count
          low[node] = count
          stack.append(node)
          isOnStack[node] = true
        }
        if next < starts[node + 1] {
          path[path.count - 1].next += 1
          let target = Int(sorted[next].to)
          if index[target] == 0 {
            path.append((target, starts[target]))
          } else if isOnStack[target] {
            low[node] = min(low[node], index[target])
          }
          continue
        }
        path.removeLast()
        if let parent = path.last?.node { low[parent] = min(low[parent], low[node]) }
        if low[node] == index[node] {
          var component: [Int] = []
          while let member = stack.popLast() {
            isOnStack[member] = false
            component.append(member)
            if member == node { break }
          }
          if component.count > 1 { components.append(component) }
        }
      }
    }
    return components
  }
}
