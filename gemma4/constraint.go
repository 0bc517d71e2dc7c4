package gemma4

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// Form says what an answer must look like: exactly one of JSON, Schema, Regex, Choices,
// Grammar and Tools is set, or Tools and one of the others, which an answer without calls
// then looks like. A form is kept, or refused with an error of package grammar that
// names what cannot be honoured.
type Form struct {
	// JSON is any JSON value.
	JSON bool `json:"json,omitempty"`
	// Schema is a JSON schema of draft 4 to 2020-12.
	Schema string `json:"schema,omitempty"`
	// Regex is a regular expression (RE2 syntax) that the whole answer matches.
	Regex string `json:"regex,omitempty"`
	// Choices are texts of which the answer is one.
	Choices []string `json:"choices,omitempty"`
	// Grammar is a grammar in llama.cpp's notation (GBNF), which begins at the rule root.
	Grammar string `json:"grammar,omitempty"`

	// Tools are functions to call, in the model's own form; see Calls.
	Tools *grammar.Tools `json:"-"`

	// Spaced lets the model set whitespace between the tokens of JSON as it likes, up to
	// 128 characters in one place, and Compact leaves none. Without either, a space stands
	// behind each comma and colon: models have read most of their JSON so, and an answer
	// cannot lose itself in blank lines.
	Spaced  bool `json:"spaced,omitempty"`
	Compact bool `json:"compact,omitempty"`
	// AnyOrder lets properties come in any order. Without it they come in the schema's.
	AnyOrder bool `json:"anyOrder,omitempty"`
}

// compiled is the form as package grammar takes it.
func (f Form) compiled() grammar.Form {
	return grammar.Form{
		JSON: f.JSON, Schema: f.Schema, Regex: f.Regex, Choice: f.Choices, GBNF: f.Grammar, Tools: f.Tools,
		Whitespace: f.whitespace(), AnyOrder: f.AnyOrder,
	}
}

func (f Form) whitespace() grammar.Whitespace {
	switch {
	case f.Spaced:
		return grammar.AnyWhitespace
	case f.Compact:
		return grammar.NoWhitespace
	}
	return grammar.OneSpace
}

// compile makes the form ready for a vocabulary. It fails as grammar.Compile does.
func (f Form) compile(ctx context.Context, v *grammar.Vocabulary) (*grammar.Constraint, error) {
	if f.Spaced && f.Compact {
		return nil, fmt.Errorf("%w: JSON cannot be both spaced and compact; choose one", grammar.ErrSyntax)
	}
	return grammar.Compile(ctx, v, f.compiled())
}

// key tells forms apart.
func (f Form) key() [sha256.Size]byte {
	var tools grammar.Tools
	if f.Tools != nil {
		tools = *f.Tools
	}
	return sha256.Sum256(fmt.Appendf(nil, "%t %t %t %t %q %q %q %q %t %q %d %q %t",
		f.JSON, f.Spaced, f.Compact, f.AnyOrder, f.Schema, f.Regex, f.Grammar, f.Choices,
		f.Tools != nil, tools.Declarations, tools.Choice, tools.Name, tools.Parallel))
}

// maxConstraints bounds how many compiled forms a model keeps.
const maxConstraints = 8

// constraints are the forms that a model has compiled.
type constraints struct {
	mu         sync.Mutex
	vocabulary *grammar.Vocabulary
	kept       map[[sha256.Size]byte]*grammar.Constraint
	coming     map[[sha256.Size]byte]chan struct{} // closed when the form that is being compiled is, or could not be
	recent     [][sha256.Size]byte                 // keys of kept, the latest last
}

// Constraint compiles a form for the model's vocabulary, or returns what it kept of an
// earlier call: the model keeps the latest few. The first call prepares the vocabulary,
// which takes a moment. It fails with grammar.ErrSyntax, ErrUnsupported,
// ErrUnsatisfiable or ErrTooComplex.
func (m *Model) Constraint(ctx context.Context, f Form) (*grammar.Constraint, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.Tools != nil && !m.template.HasTools() {
		return nil, fmt.Errorf("%w: calls of tools; choose a Gemma 4 model", chat.ErrFormat)
	}
	key := f.key()
	for {
		kept, coming, err := m.keptConstraint(key)
		if kept != nil || err != nil {
			return kept, err
		}
		if coming == nil {
			break
		}
		select {
		case <-coming: // kept now, or whoever compiled it failed or gave up
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return m.constraints.compile(ctx, f, key)
}

// compile compiles a form that nobody else does, while others compile theirs.
func (c *constraints) compile(ctx context.Context, f Form, key [sha256.Size]byte) (made *grammar.Constraint,
	err error) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(c.coming[key])
		delete(c.coming, key)
		if made != nil {
			c.kept[key] = made
			c.touch(key)
		}
	}()
	return f.compile(ctx, c.vocabulary)
}

// keptConstraint is a form's constraint where there is one, or what to wait for where it is being compiled. Otherwise
// the caller has to compile it.
func (m *Model) keptConstraint(key [sha256.Size]byte) (*grammar.Constraint, chan struct{}, error) {
	c := &m.constraints
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept := c.kept[key]; kept != nil {
		c.touch(key)
		return kept, nil, nil
	}
	if coming := c.coming[key]; coming != nil {
		return nil, coming, nil
	}
	if c.vocabulary == nil {
		v, err := m.newVocabulary()
		if err != nil {
			return nil, nil, err
		}
		c.vocabulary = v
		c.kept, c.coming = map[[sha256.Size]byte]*grammar.Constraint{}, map[[sha256.Size]byte]chan struct{}{}
	}
	c.coming[key] = make(chan struct{})
	return nil, nil, nil
}

// constraintOf is what an answer is held to; nil for nothing.
func (m *Model) constraintOf(ctx context.Context, o GenerateOptions) (*grammar.Constraint, error) {
	if o.Constraint != nil || o.Form == nil {
		return o.Constraint, nil
	}
	c, err := m.Constraint(ctx, *o.Form)
	return c, toolsError(o.Form, err)
}

// touch makes a key the latest, and forgets the oldest where there are too many.
func (c *constraints) touch(key [sha256.Size]byte) {
	for i, k := range c.recent {
		if k == key {
			c.recent = append(c.recent[:i], c.recent[i+1:]...)
			break
		}
	}
	if c.recent = append(c.recent, key); len(c.recent) > maxConstraints {
		delete(c.kept, c.recent[0])
		c.recent = c.recent[1:]
	}
}

// own says whether a constraint is for this model's vocabulary.
func (m *Model) own(c *grammar.Constraint) bool {
	m.constraints.mu.Lock()
	defer m.constraints.mu.Unlock()
	return c.Vocabulary() == m.constraints.vocabulary
}

// newVocabulary is the tokenizer's pieces as text. The model's count may be larger than
// the tokenizer's.
func (m *Model) newVocabulary() (*grammar.Vocabulary, error) {
	t, pieces := m.tokenizer, make([][]byte, m.arch.Config.Vocab)
	for id := range min(len(pieces), t.Len()) {
		pieces[id] = pieceOf(t, id)
	}
	if !m.template.HasTools() {
		return grammar.NewVocabulary(pieces, t.EOG())
	}
	controls, err := chat.ControlsOf(t)
	if err != nil {
		return nil, err
	}
	return grammar.NewVocabularyWith(pieces, t.EOG(), controls)
}

// pieceOf is the bytes that a token stands for in a text; nil for one that steers.
func pieceOf(t *tokenizer.Tokenizer, id int) []byte {
	text := t.TokenText(id)
	switch kind := t.Type(id); {
	case t.IsControl(id) || t.IsEOG(id) || kind == tokenizer.Unused:
		return nil
	case kind == tokenizer.Byte:
		b, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(text, "<0x"), ">"), 16, 8)
		if err != nil {
			return nil
		}
		return []byte{byte(b)}
	}
	return []byte(strings.ReplaceAll(text, "▁", " "))
}

// UnmarshalJSON reads a form whose schema may be given as it is, beside as a string.
func (f *Form) UnmarshalJSON(raw []byte) error {
	type plain Form
	var with struct {
		plain
		Schema json.RawMessage `json:"schema"`
	}
	if err := json.Unmarshal(raw, &with); err != nil {
		return fmt.Errorf("%w: the form is no such object: %w", grammar.ErrSyntax, err)
	}
	*f = Form(with.plain)
	if len(with.Schema) == 0 || json.Unmarshal(with.Schema, &f.Schema) == nil {
		return nil
	}
	f.Schema = string(with.Schema)
	return nil
}

// Check tells, without a model, whether a form can be honoured: Model.Constraint fails
// with the same errors.
func (f Form) Check(ctx context.Context) error {
	v, err := bytesAlone()
	if err != nil {
		return err
	}
	_, err = f.compile(ctx, v)
	return err
}

// bytesAlone is a vocabulary of single bytes, an end, and the control tokens of forms.
var bytesAlone = sync.OnceValues(func() (*grammar.Vocabulary, error) {
	pieces := make([][]byte, 263)
	for b := range 256 {
		pieces[b] = []byte{byte(b)}
	}
	return grammar.NewVocabularyWith(pieces, []int{256}, grammar.Controls{CallOpen: 257, CallClose: 258, Quote: 259,
		Response: 260, ChannelOpen: 261, ChannelClose: 262})
})
