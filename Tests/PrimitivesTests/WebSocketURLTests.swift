import Primitives
import Testing

@Suite struct `URLs of WebSockets` {
    @Test(
        arguments: [
            ("wss://bot.example.com", true, "bot.example.com", 443, "/", "bot.example.com"),
            ("WSS://bot.example.com/talk?a=b", true, "bot.example.com", 443, "/talk?a=b", "bot.example.com"),
            ("ws://127.0.0.1:8765?x", false, "127.0.0.1", 8_765, "/?x", "127.0.0.1:8765"),
            ("wss://[2001:db8::1]:444/", true, "2001:db8::1", 444, "/", "[2001:db8::1]:444"),
            ("ws://host:80/", false, "host", 80, "/", "host"),
        ] as [(String, Bool, String, UInt16, String, String)])
    func `a URL has these parts`(
        _ text: String, _ isSecure: Bool, _ host: String, _ port: UInt16, _ path: String, _ authority: String
    ) throws {
        let url = try #require(WebSocketURL(parsing: text))
        #expect(url.isSecure == isSecure && url.host == host && url.port == port && url.path == path)
        #expect(url.authority == authority)
        #expect(
            url.text == "\(isSecure ? "wss" : "ws")://\(authority)\(path)" && WebSocketURL(parsing: url.text) == url)
    }

    @Test(
        arguments: [
            "", "wss://", "https://bot.example.com", "wss:/bot", "wss://bot:0", "wss://bot:65536", "wss://bot:+1",
            "wss://bot:/x", "wss://user@bot", "wss://user:secret@bot/", "wss://bot/#part", "wss://bot /",
            "wss://b\u{E9}", "wss://[::1", "wss://[::1]x", "wss://[bot]", "wss://bot\\evil", "wss://bot\r\nHost: evil",
            "wss://" + String(repeating: "a", count: 254), "wss://bot/" + String(repeating: "a", count: 2_048),
        ])
    func `anything else is none`(_ text: String) {
        #expect(WebSocketURL(parsing: text) == nil)
    }
}
