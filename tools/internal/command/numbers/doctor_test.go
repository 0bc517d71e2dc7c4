package numbers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/commandtest"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// fewCases are some of the suite, wrong or right.
func fewCases(wrong bool) func(*ops.Kit) []opstest.Case {
	return func(kit *ops.Kit) []opstest.Case {
		var cases []opstest.Case
		for _, c := range opstest.Cases(kit) {
			if c.Op != "StoreKV" {
				continue
			}
			run := c.Run
			c.Run = func(ctx context.Context, kit *ops.Kit) (float64, error) {
				e, err := run(ctx, kit)
				if wrong {
					e = 1
				}
				return e, err
			}
			cases = append(cases, c)
		}
		return cases
	}
}

// TestDoctor finds a kernel wrong, after which models do not open on the GPU;
// found right again, they do.
func TestDoctor(t *testing.T) {
	conformance.Long(t)
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	info := dev.Info()
	dev.Close()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	logits := []string{"logits", conformance.Path(t, "f32.gguf"), "--ids", "2", "--device", "gpu",
		"-o", filepath.Join(t.TempDir(), "logits")}
	var out, said bytes.Buffer
	env := &cli.Environment{Out: &out, Err: &said}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := (&doctorCommand{env: env, cases: fewCases(false)}).run(stopped); !errors.Is(err, context.Canceled) ||
		!strings.HasPrefix(said.String(), "gemwire: stopped after 0 of ") {
		t.Errorf("%v, %q", err, &said)
	}
	said.Reset()
	err = (&doctorCommand{env: env, cases: fewCases(true)}).run(context.Background())
	if !errors.Is(err, cli.ErrReported) || !strings.Contains(out.String(), "\n  store_kv.wgsl\n") {
		t.Fatalf("%v, %s", err, &out)
	}
	if !strings.HasPrefix(said.String(), "gemwire: examining the GPU with ") {
		t.Errorf("it says %q", &said)
	}
	if avoid := checkup.NewStore(cli.Version()).Avoid(info); len(avoid.Kernels) == 0 {
		t.Error("the verdict is not kept")
	}
	if m := commandtest.Run(t, NewLogits, logits...); m.Code != cli.ExitFailure ||
		!strings.Contains(m.Err, "store_kv.wgsl") ||
		!strings.Contains(m.Err, "CPU") {
		t.Errorf("%+v", m)
	}
	out.Reset()
	if err := (&doctorCommand{env: env, json: true, cases: fewCases(false)}).run(context.Background()); err != nil {
		t.Fatal(err)
	}
	var v checkup.Verdict
	if err := json.Unmarshal(out.Bytes(), &v); err != nil || !v.Healthy() || !reflect.DeepEqual(v.Info, info) {
		t.Errorf("%+v, %v", v, err)
	}
	if !conformance.All() {
		return // the kernels of a model take half a minute
	}
	if m := commandtest.Run(t, NewLogits, logits...); m.Code != 0 {
		t.Errorf("%+v", m)
	}
}
