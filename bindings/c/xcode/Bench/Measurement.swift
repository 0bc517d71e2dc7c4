import Foundation
import Gemwire

/// Measures a model as `gemwire_run_bench` does; the report is its JSON.
func measure(path: String?, prompt: String, promptTokens: Int32, decodeTokens: Int32, repeats: Int32) throws -> String {
    var options = gemwire_bench_options()
    options.size = MemoryLayout<gemwire_bench_options>.size
    options.prompt_tokens = promptTokens
    options.decode_tokens = decodeTokens
    options.repeats = repeats
    options.thermal = { _ in Int32(ProcessInfo.processInfo.thermalState.rawValue) }
    let report = withOptionalCString(path) { path in
        prompt.withCString { prompt in
            options.path = path
            options.prompt = prompt
            return gemwire_run_bench(&options)
        }
    }
    return try owned(report, of: 0)
}

private func withOptionalCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString { body($0) }
}

/// What the app shows of a report.
struct Report: Decodable {
    struct Load: Decodable { let seconds: Double }
    struct Rate: Decodable {
        let tokens: Int
        let tokensPerSecond: Double
    }
    struct Memory: Decodable {
        let gpuTotal: Int64
        let processPeak: Int64
    }
    struct Thermal: Decodable {
        let states: [Int]?
        let slowdown: Double
    }

    let model: String
    let device: String
    let load: Load
    let prefill: Rate
    let decode: Rate
    let memory: Memory
    let thermal: Thermal
    let answer: String
}
