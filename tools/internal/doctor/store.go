package doctor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/gemwire/gemwire/wgslkit"
)

// Store keeps verdicts, one file for each adapter, driver and version of gemwire.
type Store struct {
	Folder  string
	Version string
}

// NewStore is the store in the user's cache. Without such a folder it keeps nothing.
func NewStore(version string) Store {
	cache, err := os.UserCacheDir()
	if err != nil {
		return Store{Version: version}
	}
	return Store{Folder: filepath.Join(cache, "gemwire", "doctor"), Version: version}
}

// errNoFolder says that the store keeps nothing.
var errNoFolder = errors.New("there is no folder for caches; set XDG_CACHE_HOME or HOME")

// path is the file of an adapter.
func (s Store) path(info wgslkit.Info) string {
	key := sha256.Sum256(fmt.Appendf(nil, "%q", []string{info.Name, info.Vendor, info.Driver, info.Backend, string(info.Kind), info.Library, drivers(), installed(), s.Version}))
	return filepath.Join(s.Folder, hex.EncodeToString(key[:8])+".json")
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
	if s.Folder == "" {
		return nil
	}
	raw, err := os.ReadFile(s.path(info))
	if err != nil {
		return nil
	}
	v := &Verdict{}
	// A broken file is as good as none: another examination replaces it.
	if json.Unmarshal(raw, v) != nil {
		return nil
	}
	found := v.Info
	found.LibraryRefused = info.LibraryRefused // that is not the adapter's doing
	if !reflect.DeepEqual(found, info) || v.Drivers != drivers() || v.Version != s.Version {
		return nil
	}
	return v
}

// Avoid is what the verdict about an adapter says must be avoided: for
// wgslkit.Options.
func (s Store) Avoid(info wgslkit.Info) wgslkit.Avoid {
	if v := s.Load(info); v != nil {
		return v.Avoid
	}
	return wgslkit.Avoid{}
}
