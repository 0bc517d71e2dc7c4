package download

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/gemwire/gemwire/gguf/atomicfile"
)

// Origin is where a downloaded file came from. It lies beside the file, hidden, so
// that two files of one name from different places are told apart.
type Origin struct {
	URL    string `json:"url"` // without password and query
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

func originPath(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".origin.json")
}

// OriginOf reads what Fetch remembered of the file at path; fs.ErrNotExist where that
// is nothing.
func OriginOf(path string) (Origin, error) {
	var o Origin
	raw, err := os.ReadFile(originPath(path))
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, errors.Join(fs.ErrNotExist, err) // which knows as little
	}
	return o, nil
}

// WithoutSecrets is an address without password, query and fragment.
func WithoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// origin is where the part came from, once it is whole.
func (p *part) origin() Origin {
	return Origin{URL: WithoutSecrets(p.state.URL), Size: p.size, SHA256: hexSum(p.sum)}
}

func (o Origin) write(path string) error {
	return atomicfile.Replace(originPath(path), 0o644, func(w io.Writer) error { return json.NewEncoder(w).Encode(o) })
}

// CheckThere says what is wrong with a file that was downloaded before: it is no whole
// GGUF file, or has another size than when it came.
func CheckThere(ctx context.Context, path string) error {
	if err := checkWhole(ctx, path); err != nil {
		return err
	}
	origin, err := OriginOf(path)
	if err != nil {
		return nil // not ours, or from before origins were remembered
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() != origin.Size {
		return fmt.Errorf("%w: it has %d bytes and had %d when it was downloaded", ErrChecksum, info.Size(),
			origin.Size)
	}
	return nil
}
