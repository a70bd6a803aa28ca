import CallControl
import Testing

/// Which commands an application may give, and which values they may have.
struct ApplicationCommandTests {
    /// The commands that each state allows, in the order of the table in docs/call-states.md.
    private static let table: [(ApplicationCallPhase, ApplicationCall.Direction, String)] = [
        (.ringing, .incoming, "ring progress answer reject end transfer"),
        (.progressing, .incoming, "progress answer reject end transfer mute unmute keys play stop gather record"),
        (.talking, .incoming, "end hold transfer bridge join leave mute unmute send keys play stop gather record"),
        (.held, .incoming, "end resume transfer bridge join leave mute unmute send stop record"),
        (.ended, .incoming, ""),
        (.ringing, .outgoing, "end"),
        (.progressing, .outgoing, "end mute unmute stop gather record"),
        (.talking, .outgoing, "end hold transfer bridge join leave mute unmute send keys play stop gather record"),
        (.held, .outgoing, "end resume transfer bridge join leave mute unmute send stop record"),
        (.ended, .outgoing, ""),
    ]

    @Test func `every state allows the commands of the table, and no others`() {
        #expect(Self.table.count == ApplicationCallPhase.allCases.count * 2)
        for (phase, direction, names) in Self.table {
            let allowed = Set(names.split(separator: " ").map(String.init))
            for command in ApplicationCommand.Name.allCases {
                #expect(
                    phase.allows(command, direction) == allowed.contains(command.rawValue),
                    "\(command) while \(direction) and \(phase)")
            }
        }
    }

    @Test(arguments: [
        ("sip:support@example.com", "support@example.com"), ("Support@Example.com", "support@example.com"),
        ("*@Bots.example.com", "*@bots.example.com"), ("sip:*@bots.example.com", "*@bots.example.com"),
    ])
    func `addresses of applications are read`(_ text: String, _ written: String) {
        #expect(ApplicationAddress(text)?.description == written)
    }

    @Test(arguments: ["", "*", "*@", "support", "su*@example.com", "*@a b", "a*b@example.com", "*@example.com/x"])
    func `what is no address of an application is refused`(_ text: String) {
        #expect(ApplicationAddress(text) == nil)
    }

    @Test func `a pattern owns its domain alone, and no guest`() throws {
        let pattern = try #require(ApplicationAddress("*@bots.example.com"))
        let owned = ["menu@bots.example.com", "MENU@BOTS.example.com"].compactMap { UserAddress(parsing: $0) }
        let others = ["menu@example.com", "menu@x.bots.example.com"].compactMap { UserAddress(parsing: $0) }
        #expect(owned.allSatisfy(pattern.covers) && owned.count == 2)
        #expect(!others.contains(where: pattern.covers) && others.count == 2)
        let single = try #require(ApplicationAddress("menu@bots.example.com"))
        #expect(single.covers(owned[0]) && !single.covers(others[0]))
    }

    @Test func `what cannot be played is refused by name`() throws {
        let many = [PlayItem](repeating: .silence(.seconds(1)), count: 101)
        let lengths = Duration.milliseconds(20)...Duration.seconds(3_600)
        let cases: [(ApplicationFault, [PlayItem], Int?, Int)] = [
            (.itemCount(1...100), [], nil, 0), (.itemCount(1...100), many, nil, 0),
            (.loops(0...1_000), [.music(nil)], -1, 0), (.loops(0...1_000), [.music(nil)], 1_001, 0),
            (.volume(-30...10), [.music(nil)], 1, 11), (.volume(-30...10), [.music(nil)], 1, -31),
            (.itemLength(0, lengths), [.silence(.milliseconds(19))], nil, 0),
            (.itemLength(1, lengths), [.file("a.wav"), .tone(.busy, .seconds(3_601))], nil, 0),
            (.endlessItem(0), [.music(nil), .file("a.wav")], nil, 0),
            (.itemURL(0, limit: 2_048), [.url("http://example.com/a.wav")], nil, 0),
            (.itemURL(0, limit: 2_048), [.url("https://")], nil, 0),
            (.itemURL(1, limit: 2_048), [.music(.seconds(1)), .url("https://example.com/a b")], nil, 0),
            (.itemURL(0, limit: 2_048), [.url("https://example.com/é")], nil, 0),
            (
                .itemURL(0, limit: 2_048),
                [.url("https://example.com/" + String(repeating: "a", count: 2_048))], nil, 0
            ),
        ]
        for (fault, items, loops, volume) in cases {
            do throws(ApplicationFault) {
                _ = try PlayList(items: items, loops: loops, volume: volume)
                Issue.record("\(fault) was accepted")
            } catch {
                #expect(error == fault)
            }
        }
        let list = try PlayList(items: [.file("a.wav"), .file("b.wav"), .file("a.wav"), .music(nil)], loops: 0)
        #expect(list.files == ["a.wav", "b.wav"] && list.urls.isEmpty)
        let url = "https://example.com/a.wav"
        let fetched = try PlayList(items: [.url(url), .file("a.wav"), .url(url), .url(url + "?b")])
        #expect(fetched.urls == [url, url + "?b"] && fetched.files == ["a.wav"])
    }

    @Test func `a call that cannot be started is refused by name`() throws {
        let address = try #require(UserAddress(parsing: "a@example.com"))
        let timeouts = Duration.seconds(1)...Duration.seconds(600)
        let cases: [(ApplicationFault, Duration, String)] = [
            (.ringTimeout(timeouts), .zero, ""), (.ringTimeout(timeouts), .seconds(601), ""),
            (.contextLength(limit: 1_024), .seconds(1), String(repeating: "é", count: 513)),
        ]
        for (fault, timeout, context) in cases {
            do throws(ApplicationFault) {
                _ = try ApplicationCallRequest(to: address, from: address, ringTimeout: timeout, context: context)
                Issue.record("\(fault) was accepted")
            } catch {
                #expect(error == fault)
            }
        }
    }
}
