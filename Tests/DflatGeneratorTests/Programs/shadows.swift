// Types of the schema hide those of Swift and Dflat, and generated code still finds the right ones.

import Dflat

func check(_ condition: Swift::Bool, _ what: Swift::String) {
  if !condition { print("not so: \(what)") }
}

let post = Post(
  key: "k", number: 3, a: String(text: "text", int: .b), v: .text("t"), Int32: .a, post: 4)
let copy = Post.from(data: post.toData())
check(copy == post && copy.a?.text == "text" && copy.post == 4, "fields")
check(copy.a?.int == .b && copy.w == .b && copy.x == Error.none, "enums")
check(copy.v == .text("t"), "unions")
let full = Post(
  key: "k", number: 3, text: "t", aa: Data(v: 1), ab: Date(v: 2), ac: Swift(v: 3), ad: .a,
  ae: FlatBuffersRuntime(v: 4), af: Foundation(v: 5), ag: DflatRow(v: 6))
let again = Post.from(data: full.toData())
check(again == full && again.text == "t" && again.ab?.v == 2 && again.ac?.v == 3, "libraries")
check(again.ad == .a && again.ae?.v == 4 && again.ag?.v == 6 && post.ad == .b, "more libraries")
check(PostBuilder_(from: post).build() == post, "the builder steps aside")
let request = PostChangeRequest_.creationRequest()
request.y = PostBuilder(v: 3)
check(request.y?.v == 3, "the request too")
let condition = Post.v.as(Target.self).root > 3 && Post.a.text == "x" && Post.v.match(ID.self)
_ = condition
print("all is well")
