package picture

import "errors"

// What a caller can act on. Errors of this package wrap one of these, or the
// cause of a cancelled context.
var (
	// ErrFormat: no image, or one in a format or form that is not read here.
	ErrFormat = errors.New("not an image that can be read; use PNG, JPEG, WebP, GIF or BMP")
	// ErrDamaged: the file breaks off or contradicts its format.
	ErrDamaged = errors.New("the image is damaged or cut off")
	// ErrSize: the image has no pixels, too many of them, or too long a side.
	ErrSize = errors.New("unusable image size")
)
