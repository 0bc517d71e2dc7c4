//go:build (darwin || linux || windows) && (amd64 || arm64)

package nocgo

import (
	"runtime"

	"github.com/gemwire/gemwire/wgslkit/internal/backend/native"
)

// guarded runs call, and is the error that the library raised meanwhile, or else call's own.
func (b *driver) guarded(what string, call func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.scoped(what, call)
}

// scoped is guarded for a caller that holds mu.
func (b *driver) scoped(what string, call func() error) error {
	// Scopes belong to the thread that opened them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.beginScopes()
	err := call()
	if f := b.endScopes(); f.kind != native.KindNone {
		return native.Wrap(what, f.kind, f.message)
	}
	if err != nil {
		return native.Wrap(what, native.KindNone, err.Error())
	}
	return nil
}

func (b *driver) beginScopes() {
	b.state.clear()
	if !b.lib.scopes() {
		return
	}
	b.lib.DevicePushErrorScope.call(b.device, filterOutOfMemory)
	b.lib.DevicePushErrorScope.call(b.device, filterValidation)
}

// endScopes is the first failure. A lost Dawn device refuses nothing and does nothing, so its loss counts as one.
func (b *driver) endScopes() failure {
	for range b.openScopes() {
		popped := onSpontaneous(b.lib.callbacks.popped, b.stateNumber)
		b.lib.DevicePopErrorScope.callWith(wordsOf(&popped), b.device)
	}
	return b.state.first()
}

// openScopes is how many beginScopes has opened.
func (b *driver) openScopes() int {
	if b.lib.scopes() {
		return 2
	}
	return 0
}
