// Sources/FlatBuffersRuntime/FlatBuffersRuntime.docc/FlatBuffersRuntime.md
import FlatBuffersRuntime

let priority: Int32 = 5
// block 1
