import Foundation
import SignalingServer

/// The files of the demo page, served at `/` with `--dev`.
enum DemoPages {
    static func load() throws -> [String: Page] {
        let folder = Bundle.module.bundleURL.appending(path: "Demo")
        var pages: [String: Page] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let page = Page(contentType: contentType(of: name), bytes: [UInt8](try Data(contentsOf: folder.appending(path: name))))
            pages["/" + name] = page
            if name == "index.html" { pages["/"] = page }
        }
        return pages
    }

    private static func contentType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }
}
