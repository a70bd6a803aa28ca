import Testing
import Yams

/// The check by which the contract is held must itself be able to fail.
struct SchemaCheckTests {
    struct Case: CustomTestStringConvertible {
        /// In YAML, as all of these.
        var schema: String
        var fits: [String]
        var doesNotFit: [String]

        init(_ schema: String, fits: [String], not doesNotFit: [String]) {
            (self.schema, self.fits, self.doesNotFit) = (schema, fits, doesNotFit)
        }

        var testDescription: String { schema }
    }

    private static let cases = [
        Case("{$ref: '#/components/schemas/EndCause'}", fits: ["busy"], not: ["Busy!", "7"]),
        Case("{$ref: '#/components/schemas/EndCause', maxLength: 3}", fits: ["own"], not: ["busy"]),
        Case("{type: integer}", fits: ["1", "1.0"], not: ["1.5", "'1'", "true", "null"]),
        Case("{type: [number, 'null']}", fits: ["1", "1.5", "null"], not: ["'1'", "true", "[]"]),
        Case("{type: object}", fits: ["{}"], not: ["[]", "'{}'"]),
        Case("{const: 1}", fits: ["1"], not: ["'1'", "2", "true"]),
        Case("{const: '13'}", fits: ["'13'"], not: ["13"]),
        Case("{enum: [a, null, [1]]}", fits: ["a", "null", "[1]"], not: ["b", "'null'", "['1']"]),
        Case("{allOf: [{minimum: 2}, {maximum: 3}]}", fits: ["2", "3"], not: ["1", "4"]),
        Case("{anyOf: [{type: string}, {minimum: 2}]}", fits: ["a", "2"], not: ["1"]),
        Case("{oneOf: [{maximum: 3}, {minimum: 2}]}", fits: ["1", "4"], not: ["2", "3"]),
        Case("{not: {type: string}}", fits: ["1"], not: ["a"]),
        Case("{pattern: '^a+$'}", fits: ["aa", "1"], not: ["ab"]),
        Case("{minLength: 2}", fits: ["ab", "1"], not: ["a"]),
        Case("{maxLength: 2}", fits: ["ab", "123"], not: ["abc"]),
        Case("{minItems: 1}", fits: ["[1]", "a"], not: ["[]"]),
        Case("{maxItems: 1}", fits: ["[1]", "ab"], not: ["[1, 2]"]),
        Case("{minProperties: 1}", fits: ["{a: 1}", "a"], not: ["{}"]),
        Case("{maxProperties: 1}", fits: ["{a: 1}", "ab"], not: ["{a: 1, b: 2}"]),
        Case("{minimum: 1.5}", fits: ["2", "1.5", "a"], not: ["1", "1.4"]),
        Case("{maximum: 1.5}", fits: ["1", "1.5", "a"], not: ["2", "1.6"]),
        Case("{items: {type: string}}", fits: ["[a, b]", "[]", "1"], not: ["[a, 1]"]),
        Case("{required: [a]}", fits: ["{a: null}", "1"], not: ["{b: 1}"]),
        Case("{properties: {a: {type: string}}}", fits: ["{a: b}", "{b: 1}"], not: ["{a: 1}"]),
        Case("{properties: {a: {}}, additionalProperties: false}", fits: ["{a: 1}", "{}"], not: ["{a: 1, b: 1}"]),
        Case(
            "{properties: {a: {}}, additionalProperties: {type: string}}", fits: ["{a: 1, b: c}"],
            not: ["{a: 1, b: 1}"]),
        Case(
            "{description: A word., title: T, example: 1, examples: [1], default: 1, deprecated: true}", fits: ["a"],
            not: []),
        Case("{anything: new}", fits: [], not: ["1"]),
        Case("{items: {format: uri}}", fits: [], not: ["[a]"]),
    ]

    private let check: SchemaCheck

    init() throws { check = SchemaCheck(document: try OpenAPIDocument()) }

    @Test(arguments: cases) func `each keyword lets pass what fits, and nothing else`(_ example: Case) throws {
        let schema = try Yams.load(yaml: example.schema)
        for text in example.fits { #expect(try complaints(about: text, schema).isEmpty, "\(text)") }
        for text in example.doesNotFit { #expect(try !complaints(about: text, schema).isEmpty, "\(text)") }
    }

    @Test func `every keyword of the description is known and has been tried`() throws {
        // Where something fits, the keywords are known.
        let tried = try Self.cases.filter { !$0.fits.isEmpty }.flatMap { example in
            (try Yams.load(yaml: example.schema) as? [String: Any] ?? [:]).keys
        }
        let used = check.keywords
        #expect(used.count > 500)
        for (place, keyword) in used { #expect(tried.contains(keyword), "\(keyword) at \(place)") }
    }

    private func complaints(about text: String, _ schema: Any?) throws -> [String] {
        check.complaints(about: try #require(try Yams.load(yaml: text)), schema: schema)
    }
}
