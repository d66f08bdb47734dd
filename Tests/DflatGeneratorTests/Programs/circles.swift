// Tables that contain themselves are values all the same.

import Dflat

func check(_ condition: Bool, _ what: String) {
  if !condition { print("not so: \(what)") }
}

var node = Node(value: 1, next: Node(value: 2, next: Node(value: 3)), children: [Node(value: 4)])
let before = node
node.next?.next?.value = 30
check(before.next?.next?.value == 3 && node.next?.next?.value == 30, "copies do not share")
check(before != node && before == Node.init(node.with(3)), "equality goes through the boxes")

let tree = Tree.branch(Branch(first: .twig(Twig(length: 1)), all: [.branch(Branch())]))
let root = Root(
  id: "r", node: node, left: Left(right: Right(left: Left(name: "inner"), tree: tree)), tree: tree,
  parent: Root(id: "p"), siblings: [Root(id: "s", tree: tree)])
let copy = Root.from(data: root.toData())
check(copy == root, "circles go through buffers")
check(copy.node?.next?.next?.value == 30, "fields in fields")
check(copy.left?.right?.left?.name == "inner", "circles of two")
check(copy.parent?.id == "p" && copy.siblings.first?.tree == tree, "entities in entities")
let deep = Root.node.next.value > 3 && Root.tree.as(Branch.self).first.match(Twig.self)
_ = deep
print("all is well")

extension Node {
  func with(_ value: Int32) -> Node {
    var copy = self
    copy.next?.next?.value = value
    return copy
  }

  init(_ other: Node) { self = other }
}
