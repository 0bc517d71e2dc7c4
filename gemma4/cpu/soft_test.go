package cpu

import (
	"path/filepath"
	"strings"
	"testing"
)

// The references hold the soft tokens of images and clips: put in at the
// positions of their placeholders they test what the model makes of them.
func TestSoftTokens(t *testing.T) {
	for _, name := range []string{"e2b", "types", "dense", "moe"} {
		t.Run(name, func(t *testing.T) {
			c := findCase(t, name)
			m := openModel(t, c.model, Options{Batch: 16})
			r := openReferences(t, c.references)
			for _, media := range append(c.images, c.clips...) {
				if media.IDs == nil {
					continue
				}
				stem := strings.TrimSuffix(media.File, filepath.Ext(media.File))
				inputs := withSoftTokens(t, media, r.read(t, stem+".soft"), m.config.EmbeddingLength)
				logits := forward(t, m, newCache(t, m), inputs, Want{Logits: AllLogits})
				want := r.read(t, stem+".logits")
				closeTo(t, stem, logits[len(logits)-len(want):], want)
				testGreedy(t, m, stem, inputs, media.Greedy, media.Margins)
			}
		})
	}
}

// withSoftTokens replaces the run of one repeated id that is as long as the soft
// tokens are many.
func withSoftTokens(t *testing.T, media media, soft []float32, d int) []Input {
	t.Helper()
	inputs := Tokens(media.IDs)
	for first := range media.IDs {
		n := 0
		for first+n < len(media.IDs) && media.IDs[first+n] == media.IDs[first] {
			n++
		}
		if n != media.SoftTokens {
			continue
		}
		for i := range n {
			inputs[first+i] = Input{Embedding: soft[i*d : (i+1)*d], Image: 1}
		}
		return inputs
	}
	t.Fatalf("%s: no run of %d equal ids", media.File, media.SoftTokens)
	return nil
}
