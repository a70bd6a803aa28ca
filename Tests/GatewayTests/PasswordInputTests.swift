import Testing

import Gateway

@Suite struct PasswordInputTests {
    private func read(_ input: PasswordInput, line: String? = nil, answers: [String?] = []) -> Result<
        String, PasswordInput.Refusal
    > {
        var answers = answers
        do throws(PasswordInput.Refusal) {
            return .success(try input.read(readLine: { line }, ask: { _ in answers.removeFirst() }))
        } catch {
            return .failure(error)
        }
    }

    private func refusal(_ text: String) -> Result<String, PasswordInput.Refusal> {
        .failure(PasswordInput.Refusal(description: text))
    }

    @Test func `it is taken from where it was said to be`() {
        #expect(read(.environment("from environment")) == .success("from environment"))
        #expect(read(.standardInput, line: "from input") == .success("from input"))
        #expect(read(.prompt, answers: ["typed", "typed"]) == .success("typed"))
    }

    @Test func `typed passwords must agree`() {
        #expect(read(.prompt, answers: ["typed", "tyepd"]) == refusal("the passwords differ"))
        #expect(read(.prompt, answers: ["typed", nil]) == refusal("the passwords differ"))
    }

    @Test func `without a terminal the other ways are named`() {
        #expect(
            read(.prompt, answers: [nil])
                == refusal("there is no terminal to ask on; use --password-stdin or ORBWEAVER_PASSWORD"))
        #expect(read(.standardInput) == refusal("there is no password on standard input"))
    }

    @Test(arguments: [
        ("", "the password is empty"),
        (String(repeating: "x", count: 257), "the password is longer than 256 bytes"),
        ("tab\tinside", "the password contains a control character"),
    ])
    func `what no client could send is refused`(_ password: String, _ expected: String) {
        #expect(read(.environment(password)) == refusal(expected))
    }

    @Test func `colons, blanks and other scripts are fine`() {
        #expect(read(.environment("päss: wörd")) == .success("päss: wörd"))
    }
}
