//go:build (linux || darwin) && (amd64 || arm64)

package llamacpp

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// heard is what llama.cpp said of errors since the last quiet; its threads say it.
var heard struct {
	mu   sync.Mutex
	text strings.Builder
}

// heardBytes is as much as is kept of it.
const heardBytes = 2000

// hearLog is called by llama.cpp with each piece of its log.
func hearLog(level int32, text *byte, _ unsafe.Pointer) {
	if level != logError {
		return
	}
	heard.mu.Lock()
	defer heard.mu.Unlock()
	said := textAt(text)
	heard.text.WriteString(said[:min(len(said), heardBytes-min(heard.text.Len(), heardBytes))])
}

func textAt(at *byte) string {
	var text []byte
	for ; *at != 0; at = (*byte)(unsafe.Add(unsafe.Pointer(at), 1)) {
		text = append(text, *at)
	}
	return string(text)
}

// quiet forgets what was heard.
func quiet() {
	heard.mu.Lock()
	defer heard.mu.Unlock()
	heard.text.Reset()
}

// failed is an error with what llama.cpp said of it.
func failed(format string, args ...any) error {
	heard.mu.Lock()
	defer heard.mu.Unlock()
	err := fmt.Errorf("llama.cpp: "+format, args...)
	if said := strings.Join(strings.Fields(heard.text.String()), " "); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return err
}
