package checkup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// sumCases are a few cases of the suite, the first of which comes out as wrong.
func sumCases(wrong func(context.Context) (float64, error)) func(*ops.Kit) []opstest.Case {
	return func(kit *ops.Kit) []opstest.Case {
		var cases []opstest.Case
		for _, c := range opstest.Cases(kit) {
			if c.Op == "SumNorms" || c.Op == "SelectLast" {
				cases = append(cases, c)
			}
		}
		first := cases[0].Run
		cases[0].Run = func(ctx context.Context, kit *ops.Kit) (float64, error) {
			if e, err := first(ctx, kit); err != nil {
				return e, err
			}
			return wrong(ctx)
		}
		return cases
	}
}

func examine(t *testing.T, o Options) *Verdict {
	t.Helper()
	v, err := Examine(context.Background(), o)
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestExamine(t *testing.T) {
	var heard []string
	v := examine(t, Options{
		Version:  "v1",
		Cases:    sumCases(func(context.Context) (float64, error) { return 0, nil }),
		Progress: func(done, total int, next string) { heard = append(heard, fmt.Sprint(done < total, next)) },
	})
	passed, failed, skipped := v.Counts()
	if !v.Healthy() || passed != len(heard) || failed+skipped > 0 || len(v.Avoid.Kernels) > 0 {
		t.Errorf("%+v", v)
	}
	if v.Version != "v1" || v.Info.Name == "" || v.Limits.MaxBufferSize == 0 || v.Time.IsZero() {
		t.Errorf("%+v", v)
	}
}

func TestWrongKernels(t *testing.T) {
	for _, c := range []struct {
		name  string
		wrong func(context.Context) (float64, error)
		says  string
		skips bool
	}{
		{"wrong number", func(context.Context) (float64, error) { return 0.5, nil }, "error 0.5", false},
		{"no number", func(context.Context) (float64, error) { return math.NaN(), nil }, "error 1.8e+308", false},
		{"refused", func(context.Context) (float64, error) {
			return 0,
				fmt.Errorf("%w: it will\nnot", wgslkit.ErrShader)
		}, "it will not", false},
		{"lost", func(context.Context) (float64, error) { return 0, wgslkit.ErrDeviceLost }, "lost", false},
		{"too large", func(context.Context) (float64, error) { return 0, wgslkit.ErrOutOfMemory }, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := examine(t, Options{Version: "v1", Cases: sumCases(c.wrong)})
			_, failed, skipped := v.Counts()
			if c.skips {
				if !v.Healthy() || skipped != 1 {
					t.Errorf("%+v", v)
				}
				return
			}
			if v.Healthy() || failed != 1 || len(v.Avoid.Kernels) == 0 || len(v.Failures) != 1 {
				t.Fatalf("%+v", v)
			}
			if _, err := json.Marshal(v); err != nil {
				t.Error(err)
			}
			if report := report(t, v); !strings.Contains(report, c.says) ||
				!strings.Contains(report, v.Avoid.Kernels[0]) {
				t.Error(report)
			}
		})
	}
}

func report(t *testing.T, v *Verdict) string {
	t.Helper()
	var b strings.Builder
	if err := v.WriteReport(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBrief checks that the brief list names cases that there are, and that it
// is used where compiling is slow alone.
func TestBrief(t *testing.T) {
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	all := opstest.Cases(ops.New(dev))
	for op, names := range brief {
		for _, name := range names {
			if !slices.ContainsFunc(all, func(c opstest.Case) bool { return c.Op == op && c.Name == name }) {
				t.Errorf("there is no case %s %s", op, name)
			}
		}
	}
	v := examine(t, Options{Brief: true, Cases: sumCases(func(context.Context) (float64, error) { return 0, nil })})
	passed, _, _ := v.Counts()
	if slow := dev.Info().SlowCompiler; v.Brief != slow || (passed > 1) == slow {
		t.Errorf("slow %v: brief %v with %d cases", slow, v.Brief, passed)
	}
}

func TestReportIsShort(t *testing.T) {
	v := &Verdict{Version: "v1"}
	for i := range 100 {
		v.Failures = append(v.Failures, Failure{Op: "Linear", Case: fmt.Sprint(i), Message: strings.Repeat("é", 1000)})
		v.Avoid.Kernels = append(v.Avoid.Kernels, fmt.Sprint(i))
	}
	for i := range 15 {
		v.op(fmt.Sprint(i)).Failed++
	}
	text := report(t, v)
	if n := strings.Count(text, "\n"); n >= 60 {
		t.Errorf("%d lines", n)
	}
	if !strings.Contains(text, "and 88 more") || strings.ContainsRune(text, '\uFFFD') {
		t.Error(text)
	}
}

// TestBlame finds out which kernels of wrong cases are to be avoided.
func TestBlame(t *testing.T) {
	id := func(form, size string) wgslkit.KernelID { return wgslkit.KernelID{Name: form + size, Form: form} }
	run := func(relErr float64, kernels ...wgslkit.KernelID) *result {
		return &result{Case: opstest.Case{Tolerance: 1e-5}, relErr: relErr, kernels: kernels}
	}
	a8, a16, b8, load := id("a", "8"), id("a", "16"), id("b", "8"), id("load", "")
	for _, c := range []struct {
		name string
		runs []*result // the first came out wrong
		want []string
	}{
		{"a form that was never right", []*result{run(1, load, a8), run(0, load, b8)}, []string{"a"}},
		{"one size of it was right", []*result{run(1, load, a8), run(0, load, a16)}, []string{"a8"}},
		{"all were right elsewhere", []*result{run(1, load, a8), run(0, load, a8)}, []string{"load", "a8"}},
		{"none was", []*result{run(1, a8, b8)}, []string{"a", "b"}},
	} {
		if d := cmp.Diff(c.want, blame(c.runs[:1], c.runs)[c.runs[0]]); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}
