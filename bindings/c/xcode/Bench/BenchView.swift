import SwiftUI

/// Measures the chosen model, shows the figures, and shares the JSON.
struct BenchView: View {
    @EnvironmentObject private var desk: Desk
    @State private var prompt = "Why is the sky blue?"
    @State private var promptTokens = 512
    @State private var decodeTokens = 128
    @State private var repeats = 3

    var body: some View {
        NavigationStack {
            Form {
                Section("What is measured") {
                    TextField("Prompt", text: $prompt)
                    Stepper("Prompt of \(promptTokens) tokens", value: $promptTokens, in: 16...2048, step: 16)
                    Stepper("\(decodeTokens) tokens of answer", value: $decodeTokens, in: 16...1024, step: 16)
                    Stepper("\(repeats) runs", value: $repeats, in: 1...10)
                    Button("Measure") { desk.measure(prompt: prompt, promptTokens: promptTokens, decodeTokens: decodeTokens, repeats: repeats) }
                        .disabled(desk.busy != nil)
                    StateView()
                }
                if let report = desk.report { FiguresView(report: report) }
                if let file = desk.reportFile { ShareLink("Share the JSON", item: file) }
            }
            .navigationTitle("Bench")
        }
    }
}

struct FiguresView: View {
    let report: Report

    var body: some View {
        Section(report.model) {
            LabeledContent("Device", value: report.device)
            LabeledContent("Load", value: String(format: "%.2f s", report.load.seconds))
            LabeledContent("Prefill", value: String(format: "%.0f tokens/s", report.prefill.tokensPerSecond))
            LabeledContent("Decode", value: String(format: "%.1f tokens/s", report.decode.tokensPerSecond))
            LabeledContent("On the GPU", value: report.memory.gpuTotal.formatted(.byteCount(style: .memory)))
            LabeledContent("Process, at most", value: report.memory.processPeak.formatted(.byteCount(style: .memory)))
            LabeledContent("Slowed by heat", value: String(format: "%.2f times", report.thermal.slowdown))
            if let states = report.thermal.states { LabeledContent("Heat", value: states.map(String.init).joined(separator: " ")) }
        }
    }
}
