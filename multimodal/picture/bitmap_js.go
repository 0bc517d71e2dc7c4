package picture

import "syscall/js"

// stripPixels is how many pixels come from the browser at once, so that no more
// than the picture itself lies in Go's memory, which never shrinks.
const stripPixels = 1 << 20

// FromBitmap reads the pixels of an ImageBitmap, or of anything else that WebGL
// takes as a texture and a canvas draws. Make it with premultiplyAlpha and
// colorSpaceConversion "none" for the same pixels as natively.
//
// It goes through WebGL, which keeps the colours under transparency; a canvas
// stores them multiplied by alpha, so that they come back coarser, or black. The
// canvas is for bitmaps that are larger than a texture can be, and for browsers that
// lend no WebGL.
func FromBitmap(bitmap js.Value, limits Limits) (m *RGB, err error) {
	defer catch(&err)
	width, height := bitmap.Get("width").Int(), bitmap.Get("height").Int()
	if err := limits.check(width, height); err != nil {
		return nil, err
	}
	m = newRGB(width, height)
	if !m.readTexture(bitmap) {
		m.readCanvas(bitmap)
	}
	return m, nil
}

// strips calls fetch for the rows y … y+n−1 until all are there. fetch returns their
// pixels, of four bytes each.
func (m *RGB) strips(rows int, fetch func(y, n int) js.Value) {
	strip := make([]byte, 4*m.Width*rows)
	for y := 0; y < m.Height; y += rows {
		n := min(rows, m.Height-y)
		js.CopyBytesToGo(strip, fetch(y, n))
		dropFourth(m.Pix[3*m.Width*y:], strip[:4*m.Width*n])
	}
}

// stripRows is the height of a strip of about stripPixels.
func (m *RGB) stripRows() int { return min(m.Height, max(stripPixels/m.Width, 1)) }

// readTexture reads through WebGL, where there is one that is large enough.
func (m *RGB) readTexture(bitmap js.Value) bool {
	gl := js.Global().Get("OffscreenCanvas").New(1, 1).Call("getContext", "webgl2")
	if gl.IsNull() {
		return false
	}
	defer loseContext(gl)
	get := func(name string) js.Value { return gl.Get(name) }
	if max(m.Width, m.Height) > gl.Call("getParameter", get("MAX_TEXTURE_SIZE")).Int() {
		return false
	}
	texture := gl.Call("createTexture")
	gl.Call("bindTexture", get("TEXTURE_2D"), texture)
	gl.Call("pixelStorei", get("UNPACK_PREMULTIPLY_ALPHA_WEBGL"), false)
	gl.Call("pixelStorei", get("UNPACK_COLORSPACE_CONVERSION_WEBGL"), get("NONE"))
	gl.Call("texImage2D", get("TEXTURE_2D"), 0, get("RGBA"), get("RGBA"), get("UNSIGNED_BYTE"), bitmap)
	gl.Call("bindFramebuffer", get("FRAMEBUFFER"), gl.Call("createFramebuffer"))
	gl.Call("framebufferTexture2D", get("FRAMEBUFFER"), get("COLOR_ATTACHMENT0"), get("TEXTURE_2D"), texture, 0)
	if !gl.Call("checkFramebufferStatus", get("FRAMEBUFFER")).Equal(get("FRAMEBUFFER_COMPLETE")) {
		return false
	}
	rows := m.stripRows()
	pixels := js.Global().Get("Uint8Array").New(4 * m.Width * rows)
	m.strips(rows, func(y, n int) js.Value {
		gl.Call("readPixels", 0, y, m.Width, n, get("RGBA"), get("UNSIGNED_BYTE"), pixels)
		return pixels
	})
	return gl.Call("getError").Equal(get("NO_ERROR"))
}

// loseContext frees a context's memory without waiting for the collector; a page
// may have few of them.
func loseContext(gl js.Value) {
	if extension := gl.Call("getExtension", "WEBGL_lose_context"); !extension.IsNull() {
		extension.Call("loseContext")
	}
}

// readCanvas reads through canvases of a strip's size: a browser's largest canvas
// is smaller than its largest picture.
func (m *RGB) readCanvas(bitmap js.Value) {
	rows := m.stripRows()
	canvas := js.Global().Get("OffscreenCanvas").New(m.Width, rows)
	context := canvas.Call("getContext", "2d", map[string]any{"willReadFrequently": true})
	m.strips(rows, func(y, n int) js.Value {
		context.Call("clearRect", 0, 0, m.Width, rows)
		context.Call("drawImage", bitmap, 0, -y)
		return context.Call("getImageData", 0, 0, m.Width, n).Get("data")
	})
}
