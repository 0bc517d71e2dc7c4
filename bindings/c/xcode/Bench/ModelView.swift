import SwiftUI
import UniformTypeIdentifiers

/// Which model: the built-in one, a file, or one to download.
struct ModelView: View {
    @EnvironmentObject private var desk: Desk
    @State private var picking = false
    @State private var address = ""

    var body: some View {
        NavigationStack {
            Form {
                Section("Chosen") {
                    Text(desk.name)
                    if desk.file != nil { Button("Take the built-in one") { desk.choose(nil) } }
                }
                Section("From Files") {
                    Button("Choose a .gguf file") { picking = true }
                }
                Section("Download") {
                    TextField("https://…/model.gguf", text: $address)
                        .keyboardType(.URL)
                        .textInputAutocapitalization(.never)
                        .autocorrectionDisabled()
                    Button("Download") { desk.download(address) }.disabled(address.isEmpty)
                    if let progress = desk.progress { ProgressView(value: progress) }
                }
                StateView()
            }
            .disabled(desk.busy != nil)
            .navigationTitle("Model")
            .fileImporter(isPresented: $picking, allowedContentTypes: [.item]) { result in
                if case let .success(url) = result { desk.choose(url) }
            }
        }
    }
}

/// What is being done, and what went wrong.
struct StateView: View {
    @EnvironmentObject private var desk: Desk

    var body: some View {
        if let busy = desk.busy { Label(busy, systemImage: "hourglass") }
        if let failure = desk.failure { Text(failure).foregroundStyle(.red) }
    }
}
