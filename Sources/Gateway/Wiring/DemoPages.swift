import Foundation
import SignalingServer

/// The part of `clients/js` that a development gateway serves: the JavaScript client at the root, and the demo page
/// below `/demo/` and at `/`. A page's path is that of its file inside `clients/js`.
enum DemoPages {
    static func load() throws -> [String: Page] {
        let folder = Bundle.module.bundleURL.appending(path: "Demo")
        var pages: [String: Page] = [:]
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            guard let type = contentTypes[file.pathExtension] else { continue }
            let page = Page(contentType: type, bytes: [UInt8](try Data(contentsOf: file)))
            pages["/" + file.lastPathComponent] = page
            if file.lastPathComponent == "index.html" { pages["/"] = page }
        }
        return pages
    }

    private static let contentTypes = [
        "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "svg": "image/svg+xml",
    ]
}
