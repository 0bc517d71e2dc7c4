package gguf

// An Option changes how a file is opened.
type Option func(*options)

type options struct {
	progress  func(read, expected int64)
	maxHeader int64
	projector string
}

func collectOptions(opts []Option) options {
	o := options{maxHeader: defaultMaxHeader}
	for _, set := range opts {
		set(&o)
	}
	return o
}

// WithProgress calls f after each read of the header with the bytes read and
// the bytes that are expected in all, as far as is known by then. Of a model in
// several files each counts anew.
func WithProgress(f func(read, expected int64)) Option {
	return func(o *options) { o.progress = f }
}

// WithMaxHeader bounds the size of a header in bytes, and with it what opening
// can allocate. Unless told it is 512 MiB; it is at most 1 GiB.
func WithMaxHeader(n int64) Option {
	return func(o *options) { o.maxHeader = max(0, min(n, maxHeaderLimit)) }
}

// WithProjector names the file that holds the towers of a model whose text part
// is opened: a path for [OpenPath], a URL for [OpenRemote]. See [File.Join].
func WithProjector(name string) Option {
	return func(o *options) { o.projector = name }
}
