package picture

import (
	"context"
	"fmt"
)

// Decode is not there in a browser, whose own decoders read more formats and
// add nothing to what a page has to load: see [FromRGBA].
func Decode(context.Context, []byte, Limits) (*RGB, error) {
	return nil, fmt.Errorf("picture: no decoders in a browser; let createImageBitmap decode and hand over pixels with FromRGBA: %w", ErrFormat)
}
