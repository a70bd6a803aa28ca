import AdminServer
import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Primitives
import TestSupport
import Testing

@Suite struct RequestTests {
    // MARK: Query

    @Test func `a query is read, and what is not known in it is refused`() throws {
        let query = try QueryParameters(parsing: "prefix=a%40b&enabled=true", known: ["prefix", "enabled"])
        #expect(query["prefix"] == "a@b")
        #expect(try query.flag("enabled") == true)
        #expect(query["limit"] == nil)
        for (text, code) in [
            ("prefx=a", .requestInvalidParameter), ("prefix=a&prefix=b", .requestInvalidParameter),
            ("prefix=%zz", .requestMalformed),
        ] as [(String, AdminErrorCode)] {
            let error = #expect(throws: AdminError.self) { try QueryParameters(parsing: text, known: ["prefix"]) }
            #expect(error?.code == code, "\(text)")
        }
        #expect(throws: AdminError.self) {
            try QueryParameters(parsing: "enabled=yes", known: ["enabled"]).flag("enabled")
        }
    }

    // MARK: Paging

    private func page(_ query: String, of list: AdminOperation = .listUsers) throws -> PageRequest {
        try PageRequest(QueryParameters(parsing: query, known: list.parameters), of: list, parts: 1)
    }

    @Test func `pages follow each other to the end of the list`() throws {
        let all = (0..<25).map { "item \($0 + 10)" }
        var seen: [String] = []
        var query = "limit=10"
        var pages = 0
        while true {
            let request = try page(query)
            let rest = all.filter { item in request.after.map { item > $0[0] } ?? true }
            let page = Page(Array(rest.prefix(request.limit + 1)), request, of: .listUsers) { [$0] }
            seen += page.items
            pages += 1
            guard let next = page.next else { break }
            query = "limit=10&cursor=\(next)"
        }
        #expect(seen == all)
        #expect(pages == 3)
    }

    @Test func `a page that ends with the list names no other`() throws {
        let request = try page("limit=2")
        #expect(Page(["a", "b"], request, of: .listUsers) { [$0] }.next == nil)
        #expect(Page(["a", "b", "c"], request, of: .listUsers) { [$0] }.next != nil)
    }

    @Test func `limits and cursors that make no sense are refused`() throws {
        for query in ["limit=0", "limit=1001", "limit=ten", "cursor=x", "cursor=e30"] {
            #expect(throws: AdminError.self, "\(query)") { try page(query) }
        }
        let request = try page("limit=1")
        let cursor = try #require(Page(["a", "b"], request, of: .listUsers) { [$0] }.next)
        #expect(try page("cursor=\(cursor)").after == ["a"])
        #expect(throws: AdminError.self, "a cursor of another list") { try page("cursor=\(cursor)", of: .listAudit) }
    }

    // MARK: Body

    @Test func `a body is an object with fields that are known`() throws {
        func fields(_ text: String) throws -> BodyFields {
            try BodyFields(parsing: Array(text.utf8), known: ["name", "on", "count"])
        }
        let read = try fields(#"{"name":"a","on":true,"count":3}"#)
        #expect(try read.requiredText("name") == "a")
        #expect(try read.flag("on") == true)
        #expect(try read.number("count", in: 1...5) == 3)
        for (text, code) in [
            ("", .requestBodyMissing), ("[]", .requestMalformedJSON), ("{", .requestMalformedJSON),
            (#"{"nmae":"a"}"#, .requestInvalidValue),
        ] as [(String, AdminErrorCode)] {
            let error = #expect(throws: AdminError.self) { try fields(text) }
            #expect(error?.code == code, "\(text)")
        }
        #expect(throws: AdminError.self) { try fields(#"{"name":1}"#).text("name") }
        #expect(throws: AdminError.self) { try fields(#"{"on":"true"}"#).flag("on") }
        #expect(throws: AdminError.self) { try fields(#"{"count":1.5}"#).number("count", in: 1...5) }
        #expect(throws: AdminError.self) { try fields(#"{"count":6}"#).number("count", in: 1...5) }
        #expect(throws: AdminError.self) { try fields("{}").requiredText("name") }
        #expect(try fields(#"{"name":null}"#).text("name") == nil)
    }

    // MARK: Idempotency key

    @Test func `a key is of one caller, and tells requests apart`() throws {
        func key(_ text: String?, _ name: String = "ops", _ target: String = "/x", _ body: String = "{}") throws
            -> IdempotencyKey?
        {
            var headers = HTTPFields()
            headers[.idempotencyKey] = text
            return try IdempotencyKey(
                headers, of: AdminCaller(name: name, role: .admin), .post, target: target, Array(body.utf8))
        }
        #expect(try key(nil) == nil)
        let first = try #require(try key("k1"))
        #expect(try key("k1") == first)
        #expect(try key("k2")?.name != first.name)
        #expect(try key("k1", "others")?.name != first.name)
        #expect(try key("k1", "ops", "/y")?.fingerprint != first.fingerprint)
        #expect(try key("k1", "ops", "/x", "{ }")?.fingerprint != first.fingerprint)
        for text in ["", "two words", String(repeating: "a", count: 256)] {
            #expect(throws: AdminError.self, "\(text)") { try key(text) }
        }
    }

    // MARK: Tokens

    @Test func `a token says what it is, and only its digest is stored`() throws {
        var random = SeededRandomSource(seed: 7)
        let (token, stored) = try AdminToken.make(
            name: "ops-1", role: "operator", expiresAt: nil, at: 5, by: "root", random: &random)
        #expect(token.text.value.hasPrefix("orbadm_") && token.text.value.utf8.count == 49)
        #expect(stored.digest == token.digest && stored.digest.count == 32)
        #expect(AdminToken(token.text.value)?.digest == token.digest)
        #expect("\(token)".contains("redacted"))
        #expect(AdminToken("orbadm_short") == nil && AdminToken("other_" + token.text.value.dropFirst(6)) == nil)
        for (name, role) in [("", "admin"), ("a b", "admin"), ("a", "root")] {
            #expect(throws: AdminError.self) {
                try AdminToken.make(name: name, role: role, expiresAt: nil, at: 0, by: "", random: &random)
            }
        }
    }
}
