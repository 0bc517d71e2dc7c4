package checkup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Store keeps verdicts, one file for each adapter, driver, library and version of gemwire
// and of its kernels.
type Store struct {
	Folder  string
	Version string
}

// NewStore is the store in the user's cache, for a version of gemwire. Without such a
// folder it keeps nothing.
func NewStore(version string) Store {
	cache, err := os.UserCacheDir()
	if err != nil {
		return Store{Version: version}
	}
	return Store{Folder: filepath.Join(cache, "gemwire", "doctor"), Version: version}
}

// BuiltVersion is the version of gemwire that this program was built with: of the
// module itself, or where the program is another's, of what it requires.
func BuiltVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	const modules = "github.com/gemwire/gemwire/"
	versions := []string{info.Main.Version}
	for _, m := range info.Deps {
		if strings.HasPrefix(m.Path, modules) {
			versions = append(versions, m.Version)
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && strings.HasPrefix(info.Main.Path, modules) {
			versions = append(versions, s.Value)
		}
	}
	return strings.Join(versions, " ")
}

// errNoFolder says that the store keeps nothing.
var errNoFolder = errors.New("no cache folder was found; set XDG_CACHE_HOME or HOME")

// path is the file of an adapter.
func (s Store) path(info wgslkit.Info) string {
	key := sha256.Sum256(
		fmt.Appendf(
			nil,
			"%q",
			[]string{
				info.Name,
				info.Vendor,
				info.Driver,
				info.Backend,
				string(info.Kind),
				info.Library,
				Drivers(),
				installed(),
				s.Version,
				ops.ShaderDigest(),
			},
		),
	)
	return filepath.Join(s.Folder, hex.EncodeToString(key[:8])+".json")
}

// remembered are verdicts by path that no folder keeps, for as long as the process lives.
var remembered sync.Map

// Keep is Save for an Examiner. A verdict that cannot be saved is remembered by the
// process.
func (s Store) Keep(v *Verdict) error {
	v.Version, v.Drivers = s.Version, Drivers()
	_, err := s.Save(v)
	if err != nil {
		if raw, wrong := json.Marshal(v); wrong == nil {
			remembered.Store(s.path(v.Info), raw)
		}
	}
	return err
}

// Save keeps a verdict in place of an older one, and says where.
func (s Store) Save(v *Verdict) (path string, err error) {
	if s.Folder == "" {
		return "", errNoFolder
	}
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(s.Folder, 0o755); err != nil {
		return "", err
	}
	path = s.path(v.Info)
	temporary := path + ".new"
	if err := os.WriteFile(temporary, append(raw, '\n'), 0o644); err != nil {
		return "", err
	}
	return path, os.Rename(temporary, path)
}

// Load is the verdict about an adapter, nil where there is none.
func (s Store) Load(info wgslkit.Info) *Verdict {
	raw := s.read(info)
	if raw == nil {
		return nil
	}
	v := &Verdict{}
	// A broken file is as good as none: another examination replaces it.
	if json.Unmarshal(raw, v) != nil {
		return nil
	}
	found := v.Info
	found.LibraryRefused = info.LibraryRefused // that is not the adapter's doing
	if !reflect.DeepEqual(found, info) || v.Drivers != Drivers() || v.Version != s.Version {
		return nil
	}
	return v
}

func (s Store) read(info wgslkit.Info) []byte {
	if raw, ok := remembered.Load(s.path(info)); ok {
		return raw.([]byte)
	}
	if s.Folder == "" {
		return nil
	}
	raw, _ := os.ReadFile(s.path(info)) // none is as good as one that cannot be read
	return raw
}

// Avoid is what the verdict about an adapter says must be avoided: for
// wgslkit.Options.
func (s Store) Avoid(info wgslkit.Info) wgslkit.Avoid {
	if v := s.Load(info); v != nil {
		return v.Avoid
	}
	return wgslkit.Avoid{}
}
