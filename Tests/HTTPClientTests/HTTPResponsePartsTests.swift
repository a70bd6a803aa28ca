import Testing

@testable import HTTPClient

struct HTTPResponsePartsTests {
    @Test func `what has come is given away once, and nothing of it is kept`() {
        var parts = HTTPResponseParts(limit: 100)
        for line in ["HTTP/1.1 103 Early Hints\r\n", "HTTP/1.1 200 OK\r\n", "etag: 1\r\n"] {
            let goesOn = parts.append(line: Array(line.utf8))
            #expect(goesOn)
        }
        for content in [[1, 2], [3]] as [[UInt8]] {
            let goesOn = parts.append(content: content)
            #expect(goesOn)
        }
        let (taken, next) = (parts.take(), parts.take())
        #expect(taken.head == Array("HTTP/1.1 200 OK\r\netag: 1\r\n".utf8))
        #expect(taken.content == [1, 2, 3] && !taken.isTooLarge)
        #expect(next == HTTPResponseParts.Taken())
    }

    @Test func `a response beyond the limit is given up, and the next one is not`() {
        var parts = HTTPResponseParts(limit: 4)
        let (most, more) = ([UInt8](repeating: 1, count: 4), [UInt8](repeating: 2, count: 1))
        let contents = [parts.append(content: most), parts.append(content: more)]
        #expect(contents == [true, false])
        let goesOn = parts.append(line: more)
        #expect(!goesOn)
        let large = parts.take()
        #expect(large == HTTPResponseParts.Taken(content: most, isTooLarge: true))
        let lines = [parts.append(line: most), parts.append(line: more)]
        #expect(lines == [true, false])
        let alsoLarge = parts.take()
        #expect(alsoLarge.isTooLarge)
        let next = [parts.append(line: most), parts.append(content: most)]
        #expect(next == [true, true])
    }
}
