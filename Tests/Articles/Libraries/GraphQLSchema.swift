// Sources/GraphQLSchema/GraphQLSchema.docc/GraphQLSchema.md
import Diagnostics
import GraphQLSchema

func loading() {
  // block 1
}
