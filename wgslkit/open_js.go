package wgslkit

import (
	"github.com/gemwire/gemwire/wgslkit/internal/backend"
	driver "github.com/gemwire/gemwire/wgslkit/internal/backend/js"
)

// openBackend opens the browser's adapter with all the limits it has.
func openBackend(opts backend.Options) (backend.Backend, error) {
	return driver.Open(opts)
}
