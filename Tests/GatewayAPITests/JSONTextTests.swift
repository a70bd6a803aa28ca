import Foundation
import GatewayAPI
import TestSupport
import Testing

@Suite struct `JSON text` {
    private struct Sample: Encodable {
        var text: String?
        var number: Int64?
        var texts: [String]?
        var nested: [Sample]?
        var counts: [String: UInt8]?
        var fraction: Double?
        var fractions: [Double]?
        var truth: Bool?
    }

    @Test(
        arguments: [
            (Sample(), "{}"),
            (Sample(text: "a/b"), #"{"text":"a/b"}"#),
            (Sample(text: "", number: -7, texts: []), #"{"text":"","number":-7,"texts":[]}"#),
            (Sample(number: .max, texts: ["a", "b"]), #"{"number":9223372036854775807,"texts":["a","b"]}"#),
            (Sample(number: 1, nested: [Sample(), Sample(text: "x")]), #"{"number":1,"nested":[{},{"text":"x"}]}"#),
            (Sample(nested: [Sample(number: 1)]), #"{"nested":[{"number":1}]}"#),
            (Sample(counts: ["z": 1, "a": 255, "m": 0]), #"{"counts":{"a":255,"m":0,"z":1}}"#),
            (Sample(counts: [:], truth: false), #"{"counts":{},"truth":false}"#),
            (Sample(fraction: 1.23456, fractions: [2, -0.0004]), #"{"fraction":1.235,"fractions":[2.0,-0.0]}"#),
            (Sample(number: 1, fraction: .nan, truth: true), #"{"number":1,"truth":true}"#),
            (Sample(text: "\"\\\r\n\t\u{0}\u{1F}☎"), #"{"text":"\"\\\r\n\u0009\u0000\u001f☎"}"#),
        ] as [(Sample, String)])
    private func `values become text`(_ sample: Sample, _ text: String) {
        #expect(String(decoding: WireJSON.encode(sample), as: UTF8.self) == text)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `any string comes back from another reader as it was`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<500 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<(random.next() % 40) {
                if let scalar = Unicode.Scalar(UInt32(random.next() % (random.next() % 2 == 0 ? 0x80 : 0x11_0000))) {
                    scalars.append(scalar)
                }
            }
            let text = String(scalars)
            let read =
                try JSONSerialization.jsonObject(with: Data(WireJSON.encode(Sample(text: text)))) as? [String: String]
            #expect(read?["text"]?.unicodeScalars.elementsEqual(scalars) == true)
        }
    }

    @Test func `what Foundation writes of a value is the same value`() throws {
        let sample = Sample(
            text: "a\u{2028}b/", number: .min, texts: [], nested: [Sample(), Sample(counts: ["": 7], fraction: 0.125)],
            truth: true)
        let own = try JSONSerialization.jsonObject(with: Data(WireJSON.encode(sample))) as? NSDictionary
        let others = try JSONSerialization.jsonObject(with: JSONEncoder().encode(sample)) as? NSDictionary
        #expect(own != nil && own == others)
    }

    @Test func `a value may write its members in several turns`() {
        struct Guest: Encodable {
            private enum CodingKeys: String, CodingKey { case channel }
            func encode(to encoder: any Encoder) throws {
                try Sample(text: "x").encode(to: encoder)
                var fields = encoder.container(keyedBy: CodingKeys.self)
                try fields.encode("c", forKey: .channel)
            }
        }
        #expect(String(decoding: WireJSON.encode([Guest(), Guest()]), as: UTF8.self) == Self.twice)
    }

    private static let twice = #"[{"text":"x","channel":"c"},{"text":"x","channel":"c"}]"#
}
