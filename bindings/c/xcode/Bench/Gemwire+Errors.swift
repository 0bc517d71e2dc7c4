import Foundation
import Gemwire

/// What the library said went wrong.
struct GemwireError: LocalizedError {
    let status: gemwire_status
    let sentence: String

    /// The last failure of a handle; 0 is the calling thread's.
    init(of handle: gemwire_handle) {
        status = gemwire_last_status(handle)
        sentence = String(cString: gemwire_last_error(handle))
    }

    var errorDescription: String? { sentence }
    var wasCancelled: Bool { status == GEMWIRE_CANCELLED }
}

/// Throws what a call has failed with.
func check(_ status: gemwire_status, of handle: gemwire_handle) throws {
    if status != GEMWIRE_OK { throw GemwireError(of: handle) }
}

/// The text of a string that the library hands over, which is freed.
func owned(_ text: UnsafeMutablePointer<CChar>?, of handle: gemwire_handle) throws -> String {
    guard let text else { throw GemwireError(of: handle) }
    defer { gemwire_free(text) }
    return String(cString: text)
}
