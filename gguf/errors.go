package gguf

import (
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gguf/transfer"
)

// What a caller can act on. Errors of this package wrap one of these where one
// applies; test with errors.Is. (A tensor type that cannot be decoded is
// quant.ErrUnsupported.)
var (
	// ErrNotGGUF: the bytes do not start like a GGUF file.
	ErrNotGGUF = errors.New("not a GGUF file; name a .gguf model")
	// ErrVersion: a GGUF file of a version or byte order that is not read here.
	ErrVersion = errors.New("GGUF version not supported")
	// ErrFormat: the header contradicts itself or the format.
	ErrFormat = errors.New("malformed GGUF file")
	// ErrTruncated: the file ends before what its header promises.
	ErrTruncated = errors.New("file is cut off; download or copy it again")
	// ErrTooLarge: the header is larger than the limit, see [WithMaxHeader].
	ErrTooLarge = errors.New("header is too large")
	// ErrMissingKey: the metadata lacks the key.
	ErrMissingKey = errors.New("metadata key is missing")
	// ErrWrongType: the metadata holds another type under the key.
	ErrWrongType = errors.New("metadata value has another type")
	// ErrParts: files that do not make up one model.
	ErrParts = errors.New("files do not belong together")
	// ErrMissingPart: a file of a split model was not found.
	ErrMissingPart = errors.New("a part of the split model is missing")
	// ErrNoRanges: the server does not serve parts of a file.
	ErrNoRanges = errors.New("server ignores range requests; download the whole file and open that")
	// ErrChanged: the bytes changed since the source was opened.
	ErrChanged = errors.New("file changed while it was in use; open it again")
	// ErrStalled: the server sent nothing, or next to nothing, for too long.
	ErrStalled = transfer.ErrStalled
)

// A FormatError says where a file is wrong. It wraps [ErrFormat] and, where one
// applies, a narrower sentinel such as [ErrTruncated].
type FormatError struct {
	Offset int64  // of the offending field, in bytes from the start of the file
	Where  string // what was being read: `key "general.name"`, `tensor "output.weight"`
	Err    error  // what is wrong with it
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("gguf: %s at byte %d: %v", e.Where, e.Offset, e.Err)
}

// Unwrap makes errors.Is find both ErrFormat and what Err wraps.
func (e *FormatError) Unwrap() []error { return []error{ErrFormat, e.Err} }
