import Foundation

/// Downloads a file of gigabytes, which the system writes to disk as it comes.
enum Download {
    static func fetch(_ url: URL, to target: URL, progress: @escaping @Sendable (Double) -> Void) async throws {
        let watcher = Watcher(progress)
        let (place, response) = try await URLSession.shared.download(from: url, delegate: watcher)
        guard let response = response as? HTTPURLResponse, response.statusCode == 200 else { throw URLError(.badServerResponse) }
        try? FileManager.default.removeItem(at: target)
        try FileManager.default.moveItem(at: place, to: target)
        // It can be had again, and is too large for a backup.
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        var stored = target
        try stored.setResourceValues(values)
    }

    /// Tells how much has come.
    private final class Watcher: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
        private let progress: @Sendable (Double) -> Void
        private var observation: NSKeyValueObservation?

        init(_ progress: @escaping @Sendable (Double) -> Void) { self.progress = progress }

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
            observation = task.progress.observe(\.fractionCompleted) { [progress] done, _ in progress(done.fractionCompleted) }
        }
    }
}
