// Requests for new objects, filled field by field as in a program.

import Dflat

/// The requests of all types that are filled from samples.
protocol SampleRequest: ChangeRequest, SendableMetatype {
  static func creationRequest() -> Self
  var pos: Vec3? { get set }
  var color: Color { get set }
  var title: String { get set }
  var content: Content? { get set }
  var tag: String? { get set }
  var priority: Int32 { get set }
}

extension SampleRequest {
  @inline(__always)
  static func creation(_ sample: Sample) -> Self {
    let request = creationRequest()
    request.title = sample.title
    request.pos = sample.pos
    request.color = sample.color
    request.content = sample.content
    request.tag = sample.tag
    request.priority = sample.priority
    return request
  }
}

extension BenchDocChangeRequest: SampleRequest {}
extension ThreadDoc1ChangeRequest: SampleRequest {}
extension ThreadDoc2ChangeRequest: SampleRequest {}
extension ThreadDoc3ChangeRequest: SampleRequest {}
extension ThreadDoc4ChangeRequest: SampleRequest {}
