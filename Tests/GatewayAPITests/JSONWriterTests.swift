import Foundation
import GatewayAPI
import TestSupport
import Testing

@Suite struct `JSON writer` {
    private struct Sample: JSONWritable {
        var text: String?
        var number: Int64?
        var texts: [String]?
        var nested: [Sample]?

        func write(to writer: inout JSONWriter) {
            writer.object { object in
                object.member("text", text)
                object.member("number", number)
                object.member("texts", texts)
                object.member("nested", nested)
            }
        }
    }

    @Test(
        arguments: [
            (Sample(), "{}"),
            (Sample(text: "a/b"), #"{"text":"a/b"}"#),
            (Sample(text: "", number: -7, texts: []), #"{"text":"","number":-7,"texts":[]}"#),
            (Sample(number: .max, texts: ["a", "b"]), #"{"number":9223372036854775807,"texts":["a","b"]}"#),
            (Sample(number: 1, nested: [Sample(), Sample(text: "x")]), #"{"number":1,"nested":[{},{"text":"x"}]}"#),
            (Sample(nested: [Sample(number: 1)]), #"{"nested":[{"number":1}]}"#),
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
}
