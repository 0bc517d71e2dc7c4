import SwiftUI

/// A chat with the chosen model.
struct ChatView: View {
    @EnvironmentObject private var desk: Desk
    @State private var draft = ""

    var body: some View {
        NavigationStack {
            VStack(alignment: .leading) {
                ScrollView {
                    LazyVStack(alignment: .leading, spacing: 12) {
                        ForEach(desk.lines) { line in
                            Text(line.text)
                                .textSelection(.enabled)
                                .padding(8)
                                .background(line.mine ? Color.accentColor.opacity(0.15) : Color.secondary.opacity(0.1), in: RoundedRectangle(cornerRadius: 10))
                                .frame(maxWidth: .infinity, alignment: line.mine ? .trailing : .leading)
                        }
                    }
                }
                StateView()
                Text(desk.figures).font(.footnote).foregroundStyle(.secondary)
                HStack {
                    TextField("Ask something", text: $draft).onSubmit(send)
                    if desk.busy == "Answering" {
                        Button("Stop", action: desk.stop)
                    } else {
                        Button("Send", action: send).disabled(draft.isEmpty || desk.busy != nil)
                    }
                }
            }
            .padding()
            .navigationTitle(desk.name)
            .toolbar { Button("New", action: desk.forget).disabled(desk.busy != nil) }
        }
    }

    private func send() {
        guard !draft.isEmpty, desk.busy == nil else { return }
        desk.say(draft)
        draft = ""
    }
}
