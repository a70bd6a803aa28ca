import AdminServer
import CallControl
import CallRuntime
import TestSupport
import Testing

@Suite struct UserFileTests {
    private static let record =
        "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    private let alice = Account(
        StoredUser(
            address: UserAddress(parsing: "alice@example.com")!, passwordRecord: record,
            displayName: "Alice, \"the first\"", authName: AuthName("liddell")))
    private let bob = Account(
        StoredUser(address: UserAddress(parsing: "bob@example.com")!, passwordRecord: record), isEnabled: false)

    @Test(arguments: UserFile.Format.allCases)
    func `what is exported with passwords is imported the same`(_ format: UserFile.Format) throws {
        let file = UserFile(format: format)
        let drafts = try file.read(file.write([alice, bob], withPasswords: true))
        #expect(drafts.map(\.account) == [alice, bob])
        #expect(drafts.map(\.password) == [nil, nil])
    }

    @Test(arguments: UserFile.Format.allCases)
    func `an export without passwords has none`(_ format: UserFile.Format) {
        let text = String(decoding: UserFile(format: format).write([alice], withPasswords: false), as: UTF8.self)
        #expect(text.contains("alice@example.com") && !text.contains("scrypt"))
    }

    @Test func `a password is to be hashed`() throws {
        let lines = #"{"address":"Carol@example.com","password":"secret"}"# + "\n\n"
        let draft = try #require(try UserFile(format: .jsonl).read(Array(lines.utf8)).first)
        #expect(draft.password == "secret" && draft.account.user.address.text == "carol@example.com")
        #expect(draft.account.isEnabled && draft.line == 1)
    }

    @Test(arguments: ["\n", "\r\n"])
    func `lines end as on any system`(_ end: String) throws {
        let objects = ["a", "b"].map { #"{"address":"\#($0)@example.com","password":"secret"}"# }
        let rows = ["address,password", "a@example.com,secret", "b@example.com,secret"]
        for (format, lines, first) in [(.jsonl, objects, 1), (.csv, rows, 2)] as [(UserFile.Format, [String], Int)] {
            let drafts = try UserFile(format: format).read(Array(lines.map { $0 + end }.joined().utf8))
            #expect(drafts.map(\.account.user.address.text) == ["a@example.com", "b@example.com"])
            #expect(drafts.map(\.line) == [first, first + 1])
        }
    }

    @Test(
        arguments: [
            (.jsonl, "{\"address\":\"a@b.c\",\"password\":\"x\"}\nno JSON", 2, "not a JSON object"),
            (.jsonl, #"{"address":"a@b.c"}"#, 1, "neither password nor passwordRecord"),
            (.jsonl, #"{"address":"a","password":"x"}"#, 1, "no address"),
            (.jsonl, #"{"address":"a@b.c","password":"x","passwrod":"y"}"#, 1, "passwrod"),
            (.jsonl, #"{"address":"a@b.c","passwordRecord":"$1$x"}"#, 1, "no $scrypt$ hash"),
            (.jsonl, #"{"address":"a@b.c","password":""}"#, 1, "is empty"),
            (
                .jsonl, "{\"address\":\"a@b.c\",\"password\":\"x\"}\n{\"address\":\"A@b.c\",\"password\":\"y\"}", 2,
                "also on line 1"
            ),
            (.csv, "address,password\na@b.c,x\nb@b.c", 3, "1 values for 2 names"),
            (.csv, "address,pasword\na@b.c,x", 1, "pasword"),
            (.csv, "address,password\na@b.c,\"x", 2, "not closed"),
            (.csv, "address,password\na@b.c,x\"y", 2, "within a value"),
            (.csv, "address,password,enabled\na@b.c,x,maybe", 2, "true or false"),
        ] as [(UserFile.Format, String, Int, String)])
    func `a line that cannot be used is named`(_ format: UserFile.Format, _ text: String, _ line: Int, _ words: String)
    {
        let error = #expect(throws: AdminError.self) { try UserFile(format: format).read(Array(text.utf8)) }
        #expect(error?.code == .importLineInvalid)
        #expect(error?.line == line)
        #expect(error?.detail.contains(words) == true, "\(error?.detail ?? "-")")
    }

    @Test func `quoted values may hold commas, quotes and line ends`() throws {
        let text = "displayName,address,password\r\n\"a \"\"b\"\", c\nd\",\"a@b.c\",x\r\n"
        let error = #expect(throws: AdminError.self) { try UserFile(format: .csv).read(Array(text.utf8)) }
        #expect(error?.detail.contains("control character") == true, "a name of two lines cannot be shown")
        let draft = try UserFile(format: .csv).read(Array(text.replacing("\nd", with: "d").utf8)).first
        #expect(draft?.account.user.displayName == "a \"b\", cd")
    }
}
