import SwiftUI

/// Three pages over one model: which one it is, a chat with it, and its figures.
@main
struct BenchApp: App {
    @StateObject private var desk = Desk()

    var body: some Scene {
        WindowGroup {
            TabView {
                ModelView().tabItem { Label("Model", systemImage: "cube") }
                ChatView().tabItem { Label("Chat", systemImage: "bubble.left") }
                BenchView().tabItem { Label("Bench", systemImage: "gauge") }
            }
            .environmentObject(desk)
        }
    }
}
