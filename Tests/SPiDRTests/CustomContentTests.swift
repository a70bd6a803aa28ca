import CallControl
import SPiDR
import Testing

/// Custom parameters and bodies of requests, and their bounds.
struct CustomContentTests {
    private func content(_ fields: String) throws -> CustomContent {
        let text = #"{"callControlRequest":{"type":"startCallUpdate",\#(fields)}}"#
        let body = try read(CallControlRequest.self, from: text)
        guard
            case .command(_, .offer(let request)) = try ClientRequest.operation(body, on: SessionID("A1")).meaning()
                .request
        else { return CustomContent() }
        return request.content
    }

    @Test(arguments: ["X-GPS", "x-gps", "X-GPP-Custom_1", "key", "Ünïcode", ""])
    func `a parameter keeps the name it has, SIP style or not`(_ name: String) throws {
        let content = try content(
            #""customParameters":[{"name":"\#(name)","value":"1,2"},{"name":"\#(name)","value":true}]"#)
        #expect(
            content.parameters == [
                CustomParameter(name: name, value: "1,2"), CustomParameter(name: name, value: "true"),
            ])
    }

    @Test func `a body keeps its type, its disposition and its text`() throws {
        let content = try content(
            #""customBodies":[{"contentType":"application/vnd.x+json;v=1","contentDisposition":"render","body":"{\"a\":\"☎\"}"},{"contentType":"a/b","body":""}]"#
        )
        #expect(
            content.bodies == [
                CustomBody(
                    contentType: "application/vnd.x+json;v=1", contentDisposition: "render", body: #"{"a":"☎"}"#),
                CustomBody(contentType: "a/b", body: ""),
            ])
    }

    private static func parameter(_ value: String) -> String { #"{"name":"n","value":"\#(value)"}"# }
    private static func body(_ text: String, _ type: String = "text/plain") -> String {
        #"{"contentType":"\#(type)","body":"\#(text)"}"#
    }
    private static func list(_ name: String, _ entry: String, times count: Int = 1) -> String {
        "\"\(name)\":[\(Array(repeating: entry, count: count).joined(separator: ","))]"
    }
    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test(arguments: [
        list("customParameters", parameter(""), times: CallControlRequest.maximumParameters),
        list("customParameters", parameter(text(CallControlRequest.maximumParameterBytes - 1))),
        list("customBodies", body(""), times: CallControlRequest.maximumBodies),
        list("customBodies", body(text(CallControlRequest.maximumBodyBytes))),
    ])
    func `as much as is allowed is taken`(_ fields: String) throws {
        #expect(try !content(fields).isEmpty)
    }

    @Test(arguments: [
        (
            list("customParameters", parameter(""), times: CallControlRequest.maximumParameters + 1),
            "callControlRequest.customParameters\" has 65 entries; 64"
        ),
        (
            list("customParameters", parameter(text(CallControlRequest.maximumParameterBytes))),
            "customParameters\" has 8193 bytes; 8192"
        ),
        (
            list("customBodies", body(""), times: CallControlRequest.maximumBodies + 1),
            "customBodies\" has 9 entries; 8"
        ),
        (
            list("customBodies", body(text(CallControlRequest.maximumBodyBytes + 1))),
            "customBodies\" has 16385 bytes; 16384"
        ),
        (list("customBodies", body(text(9_000)), times: 2), "customBodies\" has 18000 bytes; 16384"),
        (list("customBodies", body("", "a/" + text(300))), "customBodies[0].contentType\" has 302 bytes; 256"),
        (list("customBodies", body("", "text")), "customBodies[0].contentType\" is not a media type"),
        (list("customBodies", body("", "a b/c")), "is not a media type"),
        (list("customBodies", body("", "a/b/c")), "is not a media type"),
        (list("customBodies", body("", "/")), "is not a media type"),
    ])
    func `too much, and what has no type, is refused with the field`(_ fields: String, _ mention: String) throws {
        do {
            _ = try content(fields)
            Issue.record("this should be refused")
        } catch let fault as RequestFault {
            guard case .unusable = fault else {
                Issue.record("\(fault)")
                return
            }
            #expect(fault.sentence.contains(mention), "\(fault.sentence)")
        }
    }
}
