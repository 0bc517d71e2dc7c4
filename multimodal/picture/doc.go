// Package picture makes of an image file what the vision tower takes: patches
// of pixels, bit for bit as the models' reference does it with Pillow.
//
// Four steps, each of which can be called alone:
//
//	rgb, err := picture.Decode(ctx, data, picture.Limits{}) // bytes → upright 8-bit RGB
//	w, h, err := picture.Fit(rgb.Width, rgb.Height, grid)   // the size for a budget of soft tokens
//	rgb = rgb.Resize(w, h)                                  // Pillow's bicubic
//	patches := picture.Patches(rgb, grid.Patch)             // values in 0…1, patch by patch
//
// PNG, JPEG, WebP, GIF (the first frame) and BMP are read. Transparency is
// dropped without being blended with anything, so that an image keeps the
// colours that its file has under it. In a browser the browser decodes, more
// formats than these, and no decoder is linked; FromBitmap takes an ImageBitmap
// there, and [FromRGBA] what somebody else drew.
//
// Sizes are checked in a file's header, against [Limits], before there is
// memory for its pixels.
//
// Read decode.go first (in a browser decode_js.go and bitmap_js.go), then the way of the pixels:
// convert.go (with ycbcr.go, webp.go and gif.go for what Go's decoders leave open), exif.go and
// orientation.go, size.go, bicubic.go, patches.go.
package picture
