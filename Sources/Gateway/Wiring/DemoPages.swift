import Foundation
import SignalingServer

/// The part of `clients/js` that a development gateway serves: the JavaScript client at the root, and the demo page
/// below `/demo/` and at `/`. A page's path is that of its file inside `clients/js`.
enum DemoPages {
    static func load() throws -> [String: Page] {
        let folder = Bundle.module.bundleURL.appending(path: "js")
        var pages: [String: Page] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let file = folder.appending(path: path)
            guard let type = contentTypes[file.pathExtension] else { continue }
            pages["/" + path] = Page(contentType: type, bytes: [UInt8](try Data(contentsOf: file)))
        }
        pages["/"] = pages["/demo/index.html"]
        return pages
    }

    private static let contentTypes = [
        "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "svg": "image/svg+xml",
    ]
}
