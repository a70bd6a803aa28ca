import CallRuntime
import Foundation
import SignalingServer
import Testing

/// The address book of a user (spidr-wire §10).
struct AddressBookRouteTests {
    private static let book = "/rest/version/1/user/joe@example.com/addressbook"

    private static func body(_ entries: String...) -> String {
        #"{"addressBookRequest":{"addressBookEntries":[\#(entries.joined(separator: ","))]}}"#
    }

    private static let ann = #"{"nickname":"ann","primaryContact":"ann@example.com","friendStatus":true}"#

    @Test func `entries are added, read, replaced and removed`() async throws {
        try await TestServer.run { server in
            let empty = try await server.request("GET", Self.book)
            #expect(empty.status == 200)
            #expect(empty.body == #"{"addressBookResponse":{"statusCode":0,"addressBookEntries":[]}}"#)
            let carl = #"{"nickname":"Carl & co/1","homePhone":"+1","photo":"ignored"}"#
            let added = try await server.request("POST", Self.book + "/contacts/", Self.body(Self.ann, carl))
            #expect(added.status == 201)
            let all = try await server.request("GET", Self.book)
            #expect(
                all.body == #"{"addressBookResponse":{"statusCode":0,"addressBookEntries":["#
                    + #"{"entryId":"Carl & co/1","nickname":"Carl & co/1","homePhone":"+1","friendStatus":false},"#
                    + #"{"entryId":"ann","nickname":"ann","primaryContact":"ann@example.com","friendStatus":true}]}}"#)
            let one = try await server.request("GET", Self.book + "/contacts/Carl%20%26%20co%2F1")
            #expect(one.status == 200)
            #expect(one.body.contains(#""homePhone":"+1""#))
            let renamed = try await server.request(
                "PUT", Self.book + "/contacts/ann", Self.body(#"{"nickname":"anna","friendStatus":"TRUE"}"#))
            #expect(renamed.status == 200)
            #expect(
                renamed.body == #"{"addressBookResponse":{"statusCode":0,"addressBookEntries":["#
                    + #"{"entryId":"anna","nickname":"anna","friendStatus":true}]}}"#)
            let same = try await server.request("PUT", Self.book + "/contacts/anna", Self.body(#"{"lastName":"S"}"#))
            #expect(try same.member("addressBookResponse.statusCode") == "0")
            let removed = try await server.request("DELETE", Self.book + "/contacts/anna")
            #expect(removed.status == 200)
            #expect(removed.body == #"{"addressBookResponse":{"statusCode":0}}"#)
            #expect(try await server.request("GET", Self.book + "/contacts/anna").status == 404)
        }
    }

    @Test(
        arguments: [
            ("GET", "/contacts/bob", nil, 404, "42", "contact.not_found"),
            ("DELETE", "/contacts/bob", nil, 404, "42", "contact.not_found"),
            ("PUT", "/contacts/bob", body("{}"), 404, "42", "contact.not_found"),
            ("POST", "/contacts", body(ann), 409, "37", "contact.exists"),
            ("POST", "/contacts", body(#"{"nickname":"b"}"#, #"{"nickname":"b"}"#), 409, "37", "contact.exists"),
            ("POST", "/contacts", body(#"{"nickname":"b"}"#, #"{"nickname":"c"}"#), 409, "37", "contact.limit_reached"),
            ("POST", "/contacts", body("{}"), 400, "5", "request.missing_field"),
            ("POST", "/contacts", body(), 400, "37", "request.invalid_value"),
            ("PUT", "/contacts/ann", body(), 400, "37", "request.invalid_value"),
            ("PUT", "/contacts/ann", body("{}", "{}"), 400, "37", "request.invalid_value"),
            ("POST", "/contacts", body(#"{"nickname":""}"#), 400, "37", "request.invalid_value"),
            ("POST", "/contacts", body(#"{"nickname":".."}"#), 400, "37", "request.invalid_value"),
            ("POST", "/contacts", body(#"{"nickname":"b\n"}"#), 400, "37", "request.invalid_value"),
            ("POST", "/contacts", body(#"{"nickname":"b","workPhone":7}"#), 400, "37", "request.invalid_value"),
            ("POST", "/contacts", body(#"{"nickname":"b","friendStatus":"so"}"#), 400, "37", "request.invalid_value"),
            ("POST", "/contacts", body(#"{"nickname":"b","lastName":"öööööööö"}"#), 400, "37", "request.invalid_value"),
            ("POST", "/contacts", #"{"addressBookRequest":{}}"#, 400, "5", "request.missing_field"),
            ("POST", "/contacts", #"{"addressBookRequest":7}"#, 400, "37", "request.invalid_value"),
            ("POST", "/contacts", "not JSON", 400, "1004", "request.malformed_json"),
            ("POST", "/contacts", nil, 400, "5", "request.body_missing"),
        ] as [(String, String, String?, Int, String, String)])
    func `what cannot be done is refused in the wrapper, and changes nothing`(
        _ method: String, _ path: String, _ body: String?, _ status: Int, _ statusCode: String, _ code: String
    ) async throws {
        try await TestServer.run { configuration in
            configuration.addressBooks.entries = 2
            configuration.addressBooks.fieldBytes = 15
        } _: { server in
            _ = try await server.request("POST", Self.book + "/contacts/", Self.body(Self.ann))
            let answer = try await server.request(method, Self.book + path, body)
            #expect(answer.status == status)
            #expect(try answer.member("addressBookResponse.statusCode") == statusCode)
            #expect(try answer.member("addressBookResponse.code") == code)
            let all = try await server.request("GET", Self.book)
            #expect(all.body.components(separatedBy: "entryId").count == 2)
        }
    }

    @Test func `a field may have as many bytes as the limit`() async throws {
        try await TestServer.run { configuration in
            configuration.addressBooks.fieldBytes = 8
        } _: { server in
            let entry = Self.body(#"{"nickname":"b","lastName":"öööö"}"#)
            let answer = try await server.request("POST", Self.book + "/contacts/", entry)
            #expect(answer.status == 201)
        }
    }

    @Test func `another user's book is not there`() async throws {
        try await TestServer.run { server in
            _ = try await server.request("POST", Self.book + "/contacts/", Self.body(Self.ann))
            let others = try await server.request("GET", Self.book, as: "ann@example.com:hidden:too")
            #expect(others.status == 403)
            #expect(try others.member("addressBookResponse.statusCode") == "27")
            let own = try await server.request(
                "GET", "/rest/version/1/user/ann@example.com/addressbook", as: "ann@example.com:hidden:too")
            #expect(!own.body.contains("entryId"))
        }
    }

    @Test(arguments: [("GET", "", nil), ("POST", "/contacts/", body(ann))] as [(String, String, String?)])
    func `while the book cannot be used the client is told to come back`(
        _ method: String, _ path: String, _ body: String?
    ) async throws {
        try await TestServer.run { server in
            await server.books.set(failure: .failed("the disk is full"))
            let answer = try await server.request(method, Self.book + path, body)
            #expect(answer.status == 503)
            #expect(try answer.member("addressBookResponse.code") == "service.unavailable")
            #expect(answer["Retry-After"] == "5")
        }
    }
}

/// The languages that a client asks for (spidr-wire §10).
struct LocalizationRouteTests {
    @Test(
        arguments: [
            (nil, ""), ("", ""), ("de-CH, de;q=0.9 ,\ten;q=0.8,*;q=0", "de-CH,de;q=0.9,en;q=0.8,*;q=0"),
            ("English_US", ""), ("de\"}, en", "en"), ("<script>, fr;q=1.000", "fr;q=1.000"),
            ("en;q=2, en;q=0.1234, en;level=1, en;q=0.1;q=1, toolongtag, -, e--n, en;q=1.5, fr", "fr"),
            (String(repeating: "en-GB,", count: 100), String(repeating: "en-GB,", count: 42).dropLast().description),
        ] as [(String?, String)])
    func `what is well-formed is answered to anybody`(_ header: String?, _ languages: String) async throws {
        try await TestServer.run { server in
            let headers = header.map { ["Accept-Language: \($0)"] } ?? []
            let answer = try await server.request("GET", "/rest/version/1/localization", as: nil, headers: headers)
            #expect(answer.status == 200)
            #expect(answer.body == #"{"acceptLanguage":"\#(languages)"}"#)
        }
    }

    @Test func `it is read only, and of this version only`() async throws {
        try await TestServer.run { server in
            let posted = try await server.request("POST", "/rest/version/1/localization", "{}", as: nil)
            #expect(posted.status == 405)
            let second = try await server.request("GET", "/rest/version/2/localization", as: nil)
            #expect(try second.member("statusCode") == "30")
        }
    }
}
