package record

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"

	"github.com/gemwire/gemwire/wgslkit"
)

//go:embed *.wgsl
var embedded embed.FS

// Shared are the pieces of WGSL that several rooms include.
var Shared = NewFiles("record", embedded, nil)

// Files are the WGSL files of one room, as its kernels are composed of them: its own by
// their names, and those of the rooms below behind a room's name, as in
// "weights/unit.wgsl". A room above cannot be included from.
//
// Kernels are known by their files' names, which differ from room to room.
type Files struct {
	name    string
	own     []fs.FS
	below   map[string]*Files
	shaders *wgslkit.Shaders
}

// NewFiles are the files of the room called name, which lie in its folders, nil for the
// room itself.
func NewFiles(name string, embedded fs.FS, folders []string, below ...*Files) *Files {
	f := &Files{name: name, below: map[string]*Files{}}
	if folders == nil {
		folders = []string{"."}
	}
	for _, folder := range folders {
		own, err := fs.Sub(embedded, folder)
		if err != nil {
			panic(err) // no path
		}
		f.own = append(f.own, own)
	}
	for _, b := range below {
		f.below[b.name] = b
		maps.Copy(f.below, b.below)
	}
	f.shaders = wgslkit.NewShaders(f)
	return f
}

// Shaders composes kernels of the files.
func (f *Files) Shaders() *wgslkit.Shaders { return f.shaders }

// Open opens a file of the room, or of one below.
func (f *Files) Open(name string) (fs.File, error) {
	if room, rest, ok := strings.Cut(name, "/"); ok && f.below[room] != nil {
		return f.below[room].openOwn(rest)
	}
	return f.openOwn(name)
}

func (f *Files) openOwn(name string) (fs.File, error) {
	for _, folder := range f.own {
		if file, err := folder.Open(name); err == nil {
			return file, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", fs.ErrNotExist, path.Join(f.name, name))
}

// Names are the room's own files that a kernel may be made of, without their folders.
func (f *Files) Names() []string {
	var names []string
	for _, folder := range f.own {
		found, _ := fs.Glob(folder, "*.wgsl") // the pattern is good
		names = append(names, found...)
	}
	return names
}
