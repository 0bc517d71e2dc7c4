package doctor

import (
	"context"

	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// Options say what is examined.
type Options = checkup.Options

// Verdict is what was found out about one adapter.
type Verdict = checkup.Verdict

// Examine is checkup's, with what this system tells about its drivers.
func Examine(ctx context.Context, o Options) (*Verdict, error) {
	o.Drivers = drivers()
	return checkup.Examine(ctx, o)
}
