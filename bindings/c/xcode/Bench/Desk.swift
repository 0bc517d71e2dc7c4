import Foundation
import Gemwire

/// What the pages share: the chosen model, and what is being done with it.
@MainActor
final class Desk: ObservableObject {
    struct Line: Identifiable {
        let id = UUID()
        let mine: Bool
        var text: String
    }

    /// nil is the built-in model.
    @Published private(set) var file: URL?
    @Published private(set) var name = "Built-in model"
    @Published private(set) var busy: String?
    @Published private(set) var failure: String?
    @Published private(set) var lines: [Line] = []
    @Published private(set) var figures = ""
    @Published private(set) var report: Report?
    @Published private(set) var reportFile: URL?
    @Published private(set) var progress: Double?

    private var model: Model?
    private let work = DispatchQueue(label: "gemwire")

    /// Takes a model that was picked in Files. Its place stays readable as long as it is chosen.
    func choose(_ picked: URL?) {
        model = nil
        lines = []
        figures = ""
        failure = nil
        file?.stopAccessingSecurityScopedResource()
        _ = picked?.startAccessingSecurityScopedResource()
        file = picked
        name = picked?.lastPathComponent ?? "Built-in model"
    }

    /// Downloads a model into the app's documents, and chooses it.
    func download(_ address: String) {
        guard let url = URL(string: address), url.scheme == "https" else {
            failure = "Give the https address of a .gguf file."
            return
        }
        let target = URL.documentsDirectory.appending(path: url.lastPathComponent)
        run("Downloading") {
            try await Download.fetch(url, to: target) { part in Task { @MainActor in self.progress = part } }
            self.choose(target)
        }
    }

    func say(_ text: String) {
        lines.append(Line(mine: true, text: text))
        lines.append(Line(mine: false, text: ""))
        let last = lines.count - 1
        run("Answering") {
            let model = try await self.opened()
            let result = try await self.blocking {
                try model.say(text) { piece in
                    Task { @MainActor in if self.lines.indices.contains(last) { self.lines[last].text += piece } }
                }
            }
            let rate = Double(result.answer_tokens - 1) / max(result.decode_seconds, 1e-9)
            self.figures = String(format: "%d tokens, %.1f a second, first after %.2f s", result.answer_tokens, rate, result.prefill_seconds)
        }
    }

    func stop() { model?.stop() }

    func forget() {
        run("Forgetting") {
            try self.model?.forget()
            self.lines = []
        }
    }

    /// The model of the chat is closed before: two would not fit on a phone.
    func measure(prompt: String, promptTokens: Int, decodeTokens: Int, repeats: Int) {
        model = nil
        lines = []
        let path = file?.path
        run("Measuring") {
            let json = try await self.blocking {
                try Bench.measure(path: path, prompt: prompt, promptTokens: Int32(promptTokens), decodeTokens: Int32(decodeTokens), repeats: Int32(repeats))
            }
            let place = URL.documentsDirectory.appending(path: "bench.json")
            try json.write(to: place, atomically: true, encoding: .utf8)
            self.report = try JSONDecoder().decode(Report.self, from: Data(json.utf8))
            self.reportFile = place
        }
    }

    private func opened() async throws -> Model {
        if let model { return model }
        let path = file?.path
        let made = try await blocking { try Model(path: path) }
        model = made
        return made
    }

    /// One thing at a time; what fails is shown, unless it was stopped.
    private func run(_ what: String, _ body: @escaping @MainActor () async throws -> Void) {
        guard busy == nil else { return }
        busy = what
        failure = nil
        Task {
            do {
                try await body()
            } catch let error as GemwireError where error.wasCancelled {
            } catch {
                failure = error.localizedDescription
            }
            busy = nil
            progress = nil
        }
    }

    /// The library's calls block, so they have a thread of their own.
    private func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { done in
            work.async { done.resume(with: Swift.Result(catching: body)) }
        }
    }
}
