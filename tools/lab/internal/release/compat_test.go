package release

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A made-up release before: what breaks its users is found and refused.
func TestCompare(t *testing.T) {
	repo := house(t)
	write(t, repo.Root, "mid/internal/secret/secret.go", "package secret\n\nvar Told bool\n")
	commit(t, repo.Root, "mid: a secret")
	publish(t, repo, "v0.1.0")
	write(
		t,
		repo.Root,
		"low/low.go",
		"package low\n\n// Sum adds many.\nfunc Sum(a ...int) int { return len(a) }\n\n// Less "+
			"subtracts.\nfunc Less(a, "+
			"b int) int { return a - b }\n",
	)
	write(t, repo.Root, "mid/internal/secret/secret.go", "package secret\n")
	commit(t, repo.Root, "low: many")

	d := draft(t, repo, "")
	list, err := repo.Compare(t.Context(), d, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := []Differences{
		{
			Module: d.Modules[0], Before: "v0.1.0",
			Incompatible: []string{"Sum: changed from func(int, int) int to func(...int) int"},
			Compatible:   []string{"Less: added"},
		},
		{Module: d.Modules[1], Before: "v0.1.0"},
		{Module: d.Modules[2], Before: "v0.1.0"},
		{Module: d.Modules[3], Before: "v0.1.0"},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	err = Permit(d.Step, list, true)
	if !errors.Is(err, ErrIncompatible) || !strings.Contains(err.Error(), "low: Sum: changed") {
		t.Errorf("a patch that breaks: %v", err)
	}
}

func TestBeforeV1(t *testing.T) {
	for version, want := range map[string]bool{"v0.1.0": true, "v0.99.3": true, "v1.0.0": false, "v1.2.0": false,
		"v10.0.0": false} {
		if got := BeforeV1(version); got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
}

func TestPermit(t *testing.T) {
	broken := []Differences{{Incompatible: []string{"Sum: removed"}}}
	added := []Differences{{Compatible: []string{"Sum: added"}}}
	tests := []struct {
		step  Step
		list  []Differences
		allow bool
		want  bool
	}{
		{Patch, added, false, true}, {Patch, broken, false, false}, {Patch, broken, true, false},
		{Minor, added, false, true}, {Minor, broken, false, false}, {Minor, broken, true, true},
		{Major, broken, false, true}, {First, nil, false, true},
	}
	for _, tt := range tests {
		if err := Permit(tt.step, tt.list, tt.allow); (err == nil) != tt.want {
			t.Errorf("%s, %v, allowed %t: %v", tt.step, tt.list, tt.allow, err)
		}
	}
}
