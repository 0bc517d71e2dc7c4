package multimodal

import (
	"context"
	"fmt"
	"syscall/js"

	"github.com/gemwire/gemwire/multimodal/picture"
)

// decodePicture lets the browser read an image file: createImageBitmap, drawn
// on an OffscreenCanvas, both of which are there in workers too.
func decodePicture(ctx context.Context, data []byte, limits picture.Limits) (rgb *picture.RGB, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			jsErr, ok := thrown.(js.Error)
			if !ok {
				panic(thrown)
			}
			rgb, err = nil, fmt.Errorf("picture: the browser: %s: %w", jsErr.Error(), picture.ErrFormat)
		}
	}()
	bytes := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(bytes, data)
	blob := js.Global().Get("Blob").New([]any{bytes})
	bitmap, err := await(ctx, js.Global().Call("createImageBitmap", blob, map[string]any{
		"imageOrientation": "from-image", "premultiplyAlpha": "none", "colorSpaceConversion": "none",
	}))
	if err != nil {
		return nil, err
	}
	defer bitmap.Call("close")
	width, height := bitmap.Get("width").Int(), bitmap.Get("height").Int()
	if err := checkPictureSize(width, height, limits); err != nil {
		return nil, err
	}
	return draw(bitmap, width, height), nil
}

// checkPictureSize refuses pixels before they are fetched.
func checkPictureSize(width, height int, limits picture.Limits) error {
	if limits.MaxPixels == 0 {
		limits.MaxPixels = picture.DefaultMaxPixels
	}
	if width < 1 || height < 1 || width > limits.MaxPixels/height {
		return fmt.Errorf("picture: %d × %d pixels, of which there may be %d: %w", width, height, limits.MaxPixels, picture.ErrSize)
	}
	return nil
}

// stripPixels is how many pixels come from the canvas at once, so that no more
// than the picture itself lies in Go's memory, which never shrinks.
const stripPixels = 1 << 20

// draw reads a bitmap's pixels, strip by strip, each on a canvas of its own size:
// a browser's largest canvas is smaller than its largest picture.
func draw(bitmap js.Value, width, height int) *picture.RGB {
	rows := min(height, max(stripPixels/width, 1))
	canvas := js.Global().Get("OffscreenCanvas").New(width, rows)
	context := canvas.Call("getContext", "2d", map[string]any{"willReadFrequently": true})
	rgb := &picture.RGB{Width: width, Height: height, Pix: make([]uint8, 3*width*height)}
	strip := make([]byte, 4*width*rows)
	for first := 0; first < height; first += rows {
		n := min(rows, height-first)
		context.Call("clearRect", 0, 0, width, rows)
		context.Call("drawImage", bitmap, 0, -first)
		js.CopyBytesToGo(strip, context.Call("getImageData", 0, 0, width, n).Get("data"))
		into := rgb.Pix[3*width*first:]
		for i := range width * n {
			copy(into[3*i:3*i+3], strip[4*i:])
		}
	}
	return rgb
}

// await waits for a promise.
func await(ctx context.Context, promise js.Value) (js.Value, error) {
	type outcome struct {
		value js.Value
		err   error
	}
	done := make(chan outcome, 1)
	kept := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- outcome{value: args[0]}
		return nil
	})
	broken := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- outcome{err: fmt.Errorf("picture: the browser: %s: %w", args[0].Call("toString").String(), picture.ErrFormat)}
		return nil
	})
	promise.Call("then", kept, broken)
	release := func() { kept.Release(); broken.Release() }
	select {
	case o := <-done:
		release()
		return o.value, o.err
	case <-ctx.Done():
		go func() {
			if o := <-done; o.err == nil {
				o.value.Call("close")
			}
			release()
		}()
		return js.Value{}, context.Cause(ctx)
	}
}
