import GatewayAPI
import SignalingServer
import Testing
import Yams

/// Refusals are described where they can happen, in the wrapper they come in.
struct RefusalTests {
    private let document: OpenAPIDocument
    private let check: SchemaCheck

    init() throws {
        document = try OpenAPIDocument()
        check = SchemaCheck(document: document)
    }

    /// All but one have operations that do something else if they can.
    @Test(arguments: ErrorCode.allCases.filter { $0 != .serviceNotProvided })
    func `a refusal is described at every operation where it can happen, as it is written there`(_ code: ErrorCode)
        throws
    {
        let places = Operation.all.filter { $0.canMeet(code) }
        #expect(!places.isEmpty)
        for place in places {
            guard let response = document.responses(of: place.endpoint, place.method)[code.httpStatus] else {
                Issue.record("\(place): \(code.httpStatus) is not described")
                continue
            }
            let error = APIError(code, "Because.", retryAfter: .seconds(1))
            let form = place.endpoint.errorForm(of: error)
            let json = try #require(try Yams.load(yaml: String(decoding: error.encoded(in: form), as: UTF8.self)))
            let content =
                (response["content"] as? OpenAPIDocument.Object)?[form.contentType] as? OpenAPIDocument.Object
            let complaints = check.complaints(about: json, schema: content?["schema"])
            #expect(complaints.isEmpty, "\(place) → \(code.httpStatus): \(complaints)")
        }
    }

    /// The client protocol keeps its own bodies (spidr-wire §1.5).
    @Test(arguments: Endpoint.allCases)
    func `what is not of the client protocol is refused with a problem, and nothing else is`(_ endpoint: Endpoint)
        throws
    {
        let isOfProtocol = endpoint.template.hasPrefix("/rest/")
        #expect((endpoint.errorForm == .problem) == !isOfProtocol)
        let described = endpoint.methods.flatMap { document.responses(of: endpoint, $0).filter { $0.key >= 400 } }
        for (status, response) in described where status != 503 {
            let types = Set((response["content"] as? OpenAPIDocument.Object ?? [:]).keys)
            // Before a path is read, nobody knows whose it is.
            let mayBeUnread = [400, 431, 501].contains(status)
            let wanted: Set = isOfProtocol ? ["application/json"] : ["application/problem+json"]
            #expect(types == (mayBeUnread ? wanted.union(["application/json"]) : wanted), "\(endpoint): \(status)")
        }
    }

    /// But for what says that there is too much to do, or that the gateway is about to stop: a client must be ready for
    /// it everywhere.
    @Test func `no refusal is described where none can happen`() {
        for place in Operation.all {
            let described = Set(document.responses(of: place.endpoint, place.method).keys.filter { $0 >= 400 })
            let possible = Set(ErrorCode.allCases.filter(place.canMeet).map(\.httpStatus))
            #expect(described.subtracting(possible).subtracting([429, 503]).isEmpty, "\(place)")
        }
    }

    /// 501 is about a coding that this gateway does not know, as RFC 9112 §6.1 has it.
    @Test func `nothing but being too busy or about to stop is said to be the gateway's fault`() {
        for place in Operation.all {
            #expect(
                document.responses(of: place.endpoint, place.method).keys.allSatisfy {
                    $0 < 500 || $0 == 501 || $0 == 503
                }, "\(place)")
        }
    }

    @Test(arguments: AbsentService.allCases)
    func `a service that is not provided is described with nothing but that, in its own wrapper`(
        _ service: AbsentService
    ) throws {
        for method in service.methods {
            let responses = document.responses(at: OpenAPIDocument.path(of: service), method)
            #expect(Set(responses.keys) == [400, 403, 408, 431], "\(method) \(service)")
            let error = APIError(.serviceNotProvided, "Because.").body(in: service.errorWrapper)
            let json = try #require(try Yams.load(yaml: String(decoding: WireJSON.encode(error), as: UTF8.self)))
            let content =
                (responses[403]?["content"] as? OpenAPIDocument.Object)?["application/json"] as? OpenAPIDocument.Object
            let complaints = check.complaints(about: json, schema: content?["schema"])
            #expect(complaints.isEmpty, "\(method) \(service): \(complaints)")
        }
    }
}
