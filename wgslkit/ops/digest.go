package ops

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"slices"
	"sync"

	"github.com/gemwire/gemwire/wgslkit/ops/attention"
	"github.com/gemwire/gemwire/wgslkit/ops/backward"
	"github.com/gemwire/gemwire/wgslkit/ops/expert"
	"github.com/gemwire/gemwire/wgslkit/ops/kvcache"
	"github.com/gemwire/gemwire/wgslkit/ops/product"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rope"
	"github.com/gemwire/gemwire/wgslkit/ops/rowwise"
	"github.com/gemwire/gemwire/wgslkit/ops/sampler"
	"github.com/gemwire/gemwire/wgslkit/ops/tower"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

// rooms are the files of all kernels, by their rooms.
var rooms = map[string]*record.Files{
	"record": record.Shared, "weights": weights.Files, "rowwise": rowwise.Files, "rope": rope.Files,
	"kvcache": kvcache.Files, "attention": attention.Files, "product": product.Files, "expert": expert.Files,
	"tower": tower.Files, "sampler": sampler.Files, "backward": backward.Files,
}

// ShaderDigest differs where the text of any kernel does: what was found out about kernels
// of another digest is not about these.
var ShaderDigest = sync.OnceValue(func() string {
	var names []string
	text := map[string][]byte{}
	for _, files := range rooms {
		for _, name := range files.Names() {
			names = append(names, name)
			text[name], _ = fs.ReadFile(files, name) // it is embedded
		}
	}
	slices.Sort(names)
	digest := sha256.New()
	for _, name := range names {
		digest.Write([]byte(name + "\n"))
		digest.Write(text[name])
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
})
