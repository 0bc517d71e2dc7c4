package picture

import (
	"context"
	"fmt"
	"syscall/js"

	"github.com/gemwire/gemwire/multimodal/internal/magic"
)

// Decode lets the browser read an image file, whatever formats it knows, in a
// page or a worker. It stops when ctx does.
//
// In Chromium the pixels of the formats that Decode reads natively are those of the
// reference, with two exceptions: around a GIF's frame that is smaller than its
// screen there is black, and an orientation in a WebP's EXIF is not heeded.
func Decode(ctx context.Context, data []byte, limits Limits) (*RGB, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("picture: no bytes: %w", ErrFormat)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("picture: %w", context.Cause(ctx))
	}
	if err := CheckHeader(data, limits); err != nil {
		return nil, err
	}
	bitmap, err := createBitmap(ctx, data)
	if err != nil {
		return nil, explain(ctx, data, err)
	}
	defer bitmap.Call("close")
	return FromBitmap(bitmap, limits)
}

// explain says what it means to a caller that the browser made no bitmap; it does
// not tell itself.
func explain(ctx context.Context, data []byte, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("picture: %w", context.Cause(ctx))
	}
	if _, _, known := headerSize(data); known {
		return fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	if name := foreignName(data); name != "" {
		return fmt.Errorf("picture: %s: %w", name, ErrFormat)
	}
	return fmt.Errorf("%w: %w", err, ErrFormat)
}

// createBitmap decodes without changing colours.
func createBitmap(ctx context.Context, data []byte) (bitmap js.Value, err error) {
	defer catch(&err)
	blob := js.Global().Get("Blob").New([]any{array(data)})
	if magic.Match(data, "GIF8?a") {
		head, _ := withoutTransparency(data)
		blob = js.Global().Get("Blob").New([]any{array(head), array(data[len(head):])})
	}
	return await(ctx, js.Global().Call("createImageBitmap", blob, map[string]any{
		"imageOrientation": "from-image", "premultiplyAlpha": "none", "colorSpaceConversion": "none",
	}))
}

// array copies bytes to JavaScript.
func array(data []byte) js.Value {
	bytes := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(bytes, data)
	return bytes
}

// catch makes an error of what JavaScript threw.
func catch(err *error) {
	switch thrown := recover().(type) {
	case nil:
	case js.Error:
		*err = fmt.Errorf("picture: the browser: %w", thrown)
	default:
		panic(thrown)
	}
}

// await waits for a promise of something that has a method close.
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
		done <- outcome{err: fmt.Errorf("picture: the browser: %s", args[0].Call("toString").String())}
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
