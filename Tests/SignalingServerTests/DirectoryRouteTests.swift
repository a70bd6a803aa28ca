import CallControl
import CallRuntime
import Testing

/// The directory of users, and the user's profile (spidr-wire §10).
struct DirectoryRouteTests {
    private static let path = "/rest/version/1/user/joe@example.com"

    @Test(arguments: [
        ("?criteria=AN", "1"), ("?criteria=oe&criteriaType=5", "1"), ("?criteria=e", "2"), ("", "2"),
        ("?criteria=an&criteriaType=1", "0"),
    ])
    func `users are found by a part of the name or the address`(_ query: String, _ count: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("GET", Self.path + "/directory" + query)
            #expect(answer.status == 200)
            #expect(try answer.member("directory.returnedDirectoryCount") == count)
        }
    }

    @Test func `a criterion that the protocol does not have is refused`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request("GET", Self.path + "/directory?criteriaType=9")
            #expect(answer.status == 400)
            #expect(try answer.member("directory.code") == "request.invalid_value")
        }
    }

    @Test func `the profile is that of the user who asks`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request("GET", Self.path + "/userProfileData")
            #expect(answer.status == 200)
            #expect(answer.body.contains(#""assignedService":["call","quality"]"#))
            let other = try await server.request("GET", "/rest/version/1/user/ann@example.com/userProfileData")
            #expect(other.status == 403)
        }
    }

    @Test(
        arguments: [
            (.firstName, "ann m", true), (.firstName, "smith", false), (.lastName, "SMITH", true),
            (.lastName, "ann", false),
            (.name, "may smith", true), (.user, "a.sm", true), (.user, "example", false), (.any, "example", true),
            (.lastName, "", true),
        ] as [(DirectoryQuery.Field, String, Bool)])
    func `a query looks into its field`(_ field: DirectoryQuery.Field, _ text: String, _ isFound: Bool) {
        let user = StoredUser(
            address: UserAddress(parsing: "a.smith@example.com")!, passwordRecord: "", displayName: "Ann May Smith")
        #expect(DirectoryQuery(text, in: field, of: "example.com").finds(user) == isFound)
        #expect(!DirectoryQuery(text, in: field, of: "example.org").finds(user))
    }

    @Test func `a display name of one word is a first name`() {
        #expect((PersonName("Ann").first, PersonName("Ann").last) == ("Ann", ""))
        #expect((PersonName("Ann Smith").first, PersonName("Ann Smith").last) == ("Ann", "Smith"))
    }
}
