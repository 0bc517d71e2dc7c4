//go:build !js

package native

import (
	"fmt"
	"strings"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// What went wrong, as native.h numbers it.
const (
	KindNone = iota
	KindValidation
	KindOutOfMemory
	KindInternal
	KindUnknown
	KindDeviceLost
)

// Wrap says which error of the kit message stands for; kind is one of the Kinds, KindNone for any.
func Wrap(what string, kind int, message string) error {
	sentinel := backend.ErrValidation
	lower := strings.ToLower(message)
	switch {
	case kind == KindOutOfMemory || strings.Contains(lower, "not enough memory") ||
		strings.Contains(lower, "out of memory"):
		sentinel = backend.ErrOutOfMemory
	case kind == KindDeviceLost || strings.Contains(lower, "device is lost") ||
		strings.Contains(lower, "device lost"):
		sentinel = backend.ErrDeviceLost
	}
	return fmt.Errorf("%w: %s: %s", sentinel, what, strings.Join(strings.Fields(message), " "))
}
