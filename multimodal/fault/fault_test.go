package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/fault"
	"github.com/gemwire/gemwire/multimodal/picture"
	"github.com/gemwire/gemwire/wgslkit"
)

func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want fault.Kind
	}{
		{fmt.Errorf("loading: %w", context.Canceled), fault.Cancelled},
		{fmt.Errorf("step: %w", wgslkit.ErrDeviceLost), fault.DeviceLost},
		{errors.Join(wgslkit.ErrOutOfMemory, gemma4.ErrClosed), fault.OutOfMemory},
		{gemma4.ErrDoesNotFit, fault.OutOfMemory},
		{wgslkit.ErrNoDevice, fault.NoGPU},
		{&gguf.FormatError{Where: "key", Err: gguf.ErrTruncated}, fault.BadFile},
		{fmt.Errorf("an image: %w", picture.ErrDamaged), fault.BadMedia},
		{adapter.ErrTarget, fault.BadAdapter},
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, fault.NotFound},
		{gguf.ErrStalled, fault.Network},
		{errors.New("anything"), fault.Internal},
		{nil, fault.Internal},
	} {
		if got := fault.KindOf(c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}
