import AdminServer
import CallControl
import CallRuntime
import Primitives

/// Any bytes as a file of accounts, in either format: what is read can be written and is read the same, in both; what
/// is not names a line of the file.
package func fuzzUserFile(_ bytes: Span<UInt8>) {
    let bytes = [UInt8](copying: bytes)
    for format in UserFile.Format.allCases {
        do throws(AdminError) {
            check(try UserFile(format: format).read(bytes))
        } catch {
            checkRefusal(error)
            let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
            precondition((1...lines).contains(error.line ?? 1), "a line of the file")
        }
    }
}

/// A refusal is the caller's fault, and says what it is.
func checkRefusal(_ error: AdminError) {
    precondition((400..<500).contains(error.code.httpStatus), "the file is at fault")
    precondition(!error.detail.isEmpty && error.detail.utf8.count < 2_000, "a refusal says why, in short")
}

private func check(_ drafts: [UserFile.Draft]) {
    precondition(!drafts.isEmpty, "a file of nobody is refused")
    precondition(Set(drafts.map(\.account.user.address)).count == drafts.count, "an address is there once")
    precondition(zip(drafts, drafts.dropFirst()).allSatisfy { $0.line < $1.line }, "in the order of the file")
    let accounts = drafts.map { draft in
        var account = draft.account
        precondition(
            (draft.password == nil) != account.user.passwordRecord.isEmpty, "either a password or its record")
        if draft.password != nil { account.user.passwordRecord = record }
        return account
    }
    for format in UserFile.Format.allCases {
        let file = UserFile(format: format)
        guard let again = try? file.read(file.write(accounts, withPasswords: true)) else {
            preconditionFailure("what is written can be read")
        }
        precondition(again.map(\.account) == accounts, "accounts survive writing and reading")
    }
}

private let record =
    "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
