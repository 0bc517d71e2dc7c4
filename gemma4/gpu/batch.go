package gpu

import (
	"fmt"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
)

// NewBatch fails: several texts at once are computed on the CPU alone so far.
func (e *Engine) NewBatch(engine.BatchOptions) (engine.Batch, error) {
	return nil, fmt.Errorf("%w: several answers at once on a GPU; open the model on the CPU, or make sessions",
		engine.ErrUnsupported)
}
