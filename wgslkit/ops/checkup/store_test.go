package checkup

import (
	"os"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/wgslkit"
)

func TestStore(t *testing.T) {
	s := Store{Folder: t.TempDir() + "/new", Version: "v1"}
	info := wgslkit.Info{Name: "A", Driver: "1"}
	v := &Verdict{Version: "v1", Info: info, Drivers: Drivers(), Avoid: wgslkit.Avoid{Kernels: []string{"k"}}}
	if s.Load(info) != nil || len(s.Avoid(info).Kernels) > 0 {
		t.Error("an empty store knows something")
	}
	path, err := s.Save(v)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Avoid(info); !slices.Equal(got.Kernels, []string{"k"}) {
		t.Errorf("avoid %v", got)
	}
	refused := info
	refused.LibraryRefused = "it is too old"
	if s.Load(refused) == nil {
		t.Error("a library that was not used changes what is known of the adapter")
	}
	for name, other := range map[string]*Verdict{
		"driver":  s.Load(wgslkit.Info{Name: "A", Driver: "2"}),
		"adapter": s.Load(wgslkit.Info{Name: "B", Driver: "1"}),
		"library": s.Load(wgslkit.Info{Name: "A", Driver: "1", Library: "wgpu-native 29"}),
		"version": Store{Folder: s.Folder, Version: "v2"}.Load(info),
		"folder":  Store{Version: "v1"}.Load(info),
	} {
		if other != nil {
			t.Errorf("another %s has the same verdict", name)
		}
	}
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s.Load(info) != nil {
		t.Error("a broken file is a verdict")
	}
	if _, err := (Store{}).Save(v); err == nil {
		t.Error("saved in no folder")
	}
}
