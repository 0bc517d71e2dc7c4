package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Edition says what the template is that a file brings.
type Edition int

// The editions.
const (
	// Current is the one that this package renders: that of 2026-07-09.
	Current Edition = iota
	// Older is one of Google's from before, which renders tools' results and thoughts in
	// another way.
	Older
	// Unknown is anybody else's.
	Unknown
)

// EditionOf tells whose template a file brings for models of t's kind, by its text: nobody
// runs it. A file without one is as good as one with the current.
func (t Template) EditionOf(source string) Edition {
	source = strings.TrimSpace(source)
	switch {
	case source == "":
		return Current
	case t == Gemma3:
		return gemma3Edition(source)
	}
	digest := sha256.Sum256([]byte(source))
	return t.editionByDigest(hex.EncodeToString(digest[:]))
}

func (t Template) editionByDigest(digest string) Edition {
	official, known := editions[digest]
	switch {
	case !known || official.of != t:
		return Unknown
	case official.older:
		return Older
	}
	return Current
}

// gemma3Edition goes by what the template does, because Gemma 3's is spread with many
// differences in white space: the first edition put one line break behind system text.
func gemma3Edition(source string) Edition {
	source = strings.ReplaceAll(source, "\n'", `\n'`)
	source = strings.ReplaceAll(source, "\n\\n'", `\n\n'`)
	has := func(text string) bool { return strings.Contains(source, text) }
	switch {
	case !has(startOfTurn) || !has("first_user_prefix") || has("tool"):
		return Unknown
	case has(`['content'] + '\n\n'`):
		return Current
	case has(`['content'] + '\n'`):
		return Older
	}
	return Unknown
}

type edition struct {
	of    Template
	older bool
}

// editions are Google's templates, by the SHA-256 of their text without white space around it.
var editions = map[string]edition{
	"781d10940fbc44be40064b5d43a056fc486c84ceaa55538226368b57314132bf": {E2B, true},
	"33204f1acb5bd0002713e16a593847f24ceeafe711ed88bda2a352dc996a3373": {E2B, true},
	"523fc86ed4db0357763963f4b0fdbce319903f1f68b2d03f593bef7a56836533": {E2B, false},
	"1d35a24a2a63cc600c0cab43628a6df4cd3318e959b03307cf5f9f7e29ecf783": {Large, true},
	"94899c0f917d93f6fe81c95744d1e8ddab2d21d39228d2e4aec1fb2a25bff413": {Large, true},
	"2af48814bacaf2a35a2d57aa19eee6c42ed530011977e8f414cf1d467da446c2": {Large, false},
}
