package ops

import "github.com/gemwire/gemwire/wgslkit"

// Partials holds what each split of a decoding attention found, until the
// following Linear merges it (Input.Merge).
type Partials struct {
	Buffer                 *wgslkit.Buffer
	Splits, Heads, HeadDim int
}
