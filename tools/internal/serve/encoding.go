package serve

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// encodings are the content encodings that a file may lie beside its original
// in, smallest first, with the endings of their names.
var encodings = []struct{ name, ending string }{{"br", ".br"}, {"gzip", ".gz"}}

// acceptedEncodings are those that a browser takes.
func acceptedEncodings(r *http.Request) []string {
	var accepted []string
	for item := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, params, _ := strings.Cut(strings.ToLower(item), ";")
		weight := strings.ReplaceAll(params, " ", "")
		if strings.HasPrefix(weight, "q=0") && strings.Trim(weight[len("q=0"):], ".0") == "" {
			continue
		}
		accepted = append(accepted, strings.TrimSpace(name))
	}
	return accepted
}

// file is a file in the form in which it is sent.
type file struct {
	io.ReadSeeker
	closer   io.Closer
	tag      string
	modified time.Time
	size     int64
}

func (f *file) Close() error { return f.closer.Close() }

// Bounds of what is compressed here, and kept, in bytes.
const (
	leastPacked = 1 << 10
	mostPacked  = 64 << 20
)

// packer finds or makes files in compressed form. What it makes it keeps, up to
// mostPacked in all.
type packer struct {
	mu   sync.Mutex
	kept map[string][]byte // by folder, name and version
	size int
}

func newPacker() *packer { return &packer{kept: map[string][]byte{}} }

// open opens a file below folder, in one of the accepted encodings or, with
// encoding "", as it is.
func (p *packer) open(folder, name string, accepted []string) (f *file, encoding string, err error) {
	original, info, err := openRegular(folder, name)
	if err != nil {
		return nil, "", err
	}
	plain := &file{original, original, fileTag(info), info.ModTime(), info.Size()}
	if !compressible(mediaType(name)) {
		return plain, "", nil
	}
	for _, e := range encodings {
		if !slices.Contains(accepted, e.name) {
			continue
		}
		if packed := beside(folder, name+e.ending, e.name, info); packed != nil {
			original.Close()
			return packed, e.name, nil
		}
	}
	if !slices.Contains(accepted, "gzip") || info.Size() < leastPacked || info.Size() > mostPacked {
		return plain, "", nil
	}
	content, err := p.pack(folder+"\x00"+name+"\x00"+plain.tag, original)
	original.Close()
	if err != nil {
		return nil, "", err
	}
	return &file{bytes.NewReader(content), io.NopCloser(nil), tagOf(plain.tag, "gzip"), info.ModTime(), int64(len(content))}, "gzip", nil
}

// beside opens the compressed form that lies beside a file, nil where there is
// none or where it is older than the file.
func beside(folder, name, encoding string, original fs.FileInfo) *file {
	f, info, err := openRegular(folder, name)
	if err != nil {
		return nil
	}
	if info.ModTime().Before(original.ModTime()) {
		f.Close()
		return nil
	}
	return &file{f, f, tagOf(fileTag(info), encoding), info.ModTime(), info.Size()}
}

// tagOf is the ETag of a file's encoded form.
func tagOf(tag, encoding string) string { return strings.TrimSuffix(tag, `"`) + "-" + encoding + `"` }

// pack compresses a file, unless that was done before. Others wait meanwhile.
func (p *packer) pack(key string, f *os.File) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if content, ok := p.kept[key]; ok {
		return content, nil
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := io.Copy(z, io.LimitReader(f, mostPacked)); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if p.size += out.Len(); p.size > mostPacked {
		clear(p.kept) // versions that are gone among them
		p.size = out.Len()
	}
	p.kept[key] = out.Bytes()
	return out.Bytes(), nil
}
