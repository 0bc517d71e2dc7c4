import Foundation
import Gemwire

/// An open model with one conversation. Its calls block: none is made on the main thread.
final class Model: @unchecked Sendable {
    private var model: gemwire_model = 0
    private var session: gemwire_session = 0

    /// Opens a file, or the built-in model where there is none.
    init(path: String?, context: Int32 = 4096) throws {
        var options = gemwire_open_options()
        options.size = MemoryLayout<gemwire_open_options>.size
        options.context = context
        try check(gemwire_open(path, &options, &model), of: 0)
        try check(gemwire_session_open(model, 0, &session), of: model)
    }

    deinit { gemwire_close(model) }

    /// Name, device and sizes, as JSON.
    func info() throws -> String { try owned(gemwire_model_info(model), of: model) }

    /// Answers; `hear` is called for each piece of text, on the calling thread.
    func say(_ text: String, hear: @escaping (String) -> Void) throws -> gemwire_result {
        var options = gemwire_answer_options()
        gemwire_answer_options_init(&options, MemoryLayout<gemwire_answer_options>.size)
        let listener = Listener(hear)
        options.user = Unmanaged.passUnretained(listener).toOpaque()
        options.on_event = { event, user in
            guard let event, let user, event.pointee.kind == GEMWIRE_EVENT_TEXT else { return 0 }
            Unmanaged<Listener>.fromOpaque(user).takeUnretainedValue().hear(String(cString: event.pointee.text))
            return 0
        }
        var result = gemwire_result()
        result.size = MemoryLayout<gemwire_result>.size
        try withExtendedLifetime(listener) {
            try check(gemwire_say(session, text, nil, 0, &options, &result), of: session)
        }
        return result
    }

    /// Ends the answer under way; from any thread.
    func stop() { gemwire_cancel(session) }

    func forget() throws { try check(gemwire_session_reset(session), of: session) }
}

/// What a C callback can carry.
private final class Listener {
    let hear: (String) -> Void
    init(_ hear: @escaping (String) -> Void) { self.hear = hear }
}
