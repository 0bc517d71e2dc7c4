package cli

import (
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	b := buildInfo{version: "v1.2.3", commit: "abc", date: "2026-01-02T03:04:05Z", modified: true,
		settings: []string{"with cgo"}}
	got := b.describe("gemwire")
	for _, want := range []string{"gemwire v1.2.3 go1.", "commit  abc, with changes, 2026-01-02T03:04:05Z\n",
		"built   gc, with cgo\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if got := (buildInfo{version: devel}).describe("lab"); !strings.Contains(got, "commit  not recorded\n") {
		t.Errorf("without a commit: %q", got)
	}
}
