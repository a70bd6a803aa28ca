import AdminServer
import GatewayAPI
import Primitives

/// Any bytes as the body of a request to the administration interface: each field has one kind of value at most, and
/// the audit log has room for what a body names.
package func fuzzAdminBody(_ bytes: Span<UInt8>) {
    let bytes = [UInt8](copying: bytes)
    do throws(AdminError) {
        let fields = try BodyFields(parsing: bytes, known: Set(names))
        for name in names { check(fields, name) }
    } catch {
        checkRefusal(error)
    }
    for operation in AdminOperation.allCases {
        let target = AuditTarget.text(operation, ["user": "joe@example.com"], body: bytes)
        precondition(target.count <= AuditTarget.length, "the audit log has room for it")
    }
}

/// Some of those that bodies have, of each kind.
private let names = ["address", "displayName", "password", "enabled", "heard", "routes", "level", "name", "role"]

private func check(_ fields: BodyFields, _ name: String) {
    let range = 0...Int64(1_000)
    var kinds: [String] = []
    do throws(AdminError) {
        if try fields.text(name) != nil { kinds.append("text") }
    } catch { checkRefusal(error) }
    do throws(AdminError) {
        if try fields.flag(name) != nil { kinds.append("flag") }
    } catch { checkRefusal(error) }
    do throws(AdminError) {
        if let number = try fields.number(name, in: range) {
            precondition(range.contains(number), "a number is in its range")
            kinds.append("number")
        }
    } catch { checkRefusal(error) }
    precondition(kinds.count <= 1, "a value has one kind")
    precondition(fields.has(name) || kinds.isEmpty, "what is not there has no value")
    precondition((try? fields.requiredText(name)) != nil || kinds != ["text"], "a text is there")
}
