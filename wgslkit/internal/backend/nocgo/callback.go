//go:build (darwin || linux || windows) && (amd64 || arm64)

package nocgo

import (
	"sync"
	"unsafe"

	"github.com/gemwire/gemwire/wgslkit/internal/backend/native"
)

// callbacks are the C addresses of what the libraries call. purego never frees one, so a process makes them once.
type callbacks struct {
	popped, uncaptured, device, adapter, lost, mapped, done uintptr
}

func newCallbacks() callbacks {
	return callbacks{
		popped:     newCallback(onPopped),
		uncaptured: newCallback(onUncaptured),
		device:     newCallback(onHandle),
		adapter:    newCallback(onHandle),
		lost:       newCallback(onLost),
		mapped:     newShortCallback(onMapped),
		done:       newShortCallback(onDone),
	}
}

// onSpontaneous is the struct that has a library call address, at any time, with user.
func onSpontaneous(address, user uintptr) callback {
	return callback{mode: spontaneous, callback: address, user1: user}
}

// waiting are the Go values that callbacks are about. C has their numbers: no pointer of Go's is kept in C, and a
// callback that comes too late finds nothing.
var waiting struct {
	mu   sync.Mutex
	last uintptr
	by   map[uintptr]any
}

func await(value any) (number uintptr) {
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	if waiting.by == nil {
		waiting.by = map[uintptr]any{}
	}
	waiting.last++
	waiting.by[waiting.last] = value
	return waiting.last
}

func forget(number uintptr) {
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	delete(waiting.by, number)
}

// told calls tell with the T of that number, if it is still waited for.
func told[T any](number uintptr, tell func(*T)) {
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	if value, ok := waiting.by[number].(*T); ok {
		tell(value)
	}
}

// read is f of the value that callbacks write to.
func read[T, R any](value *T, f func(*T) R) R {
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	return f(value)
}

// failure is the first error that was raised.
type failure struct {
	kind    int // one of native's
	message string
}

func (f *failure) set(kind int, message string) {
	if f.kind == native.KindNone {
		*f = failure{kind, message}
	}
}

// deviceState is what callbacks tell of a device.
type deviceState struct {
	popped, uncaught, lost failure
}

// clear forgets all but the device's loss.
func (s *deviceState) clear() {
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	s.popped, s.uncaught = failure{}, failure{}
}

// first is the first failure since clear.
func (s *deviceState) first() failure {
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	f := s.popped
	f.set(s.uncaught.kind, s.uncaught.message)
	f.set(s.lost.kind, s.lost.message)
	return f
}

// request is a device or an adapter that was asked for.
type request struct {
	done   bool
	handle uintptr
	why    string // it was refused
}

// mapState is a range that is being mapped, or work that is being done.
type mapState struct {
	done   bool
	failed uint32 // the library's status
}

func onPopped(status, kind uintptr, message string, user uintptr) {
	if uint32(status) == statusSuccess {
		told(user, func(s *deviceState) { s.popped.set(int(uint32(kind))-errorNone, message) })
	}
}

// What no scope catches is raised by the call that failed: internal errors, for which wgpu-native has no scope. Without
// a callback it would end the process.
func onUncaptured(_, kind uintptr, message string, user uintptr) {
	told(user, func(s *deviceState) { s.uncaught.set(int(uint32(kind))-errorNone, message) })
}

func onLost(_, _ uintptr, message string, user uintptr) {
	told(user, func(s *deviceState) { s.lost.set(native.KindDeviceLost, message) })
}

func onHandle(status, handle uintptr, message string, user uintptr) {
	told(user, func(r *request) {
		r.done = true
		if uint32(status) == statusSuccess {
			r.handle = handle
		} else {
			r.why = message
		}
	})
}

func onMapped(status uintptr, user uintptr) {
	told(user, func(s *mapState) {
		if s.done = true; uint32(status) != statusSuccess {
			s.failed = uint32(status)
		}
	})
}

func onDone(_ uintptr, user uintptr) { told(user, func(s *mapState) { s.done = true }) }

// longestText is as much as is copied of what a library says.
const longestText = 1023

// goText copies a text of C's. All ones for its length mean that a zero ends it.
func goText(data, length uintptr) string {
	if data == 0 {
		return ""
	}
	bytes := unsafe.Slice((*byte)(addressed(data)), longestText)
	n := 0
	for n < longestText && uintptr(n) < length && (length != ^uintptr(0) || bytes[n] != 0) {
		n++
	}
	return string(bytes[:n])
}
