package gemma4

// lookupDrafter drafts what comes next by looking up the text's last tokens in the
// text before them: an answer that quotes, lists or changes what was said goes
// on as it did there. (Prompt look-up decoding, Saxena 2023.) It knows no model,
// costs nothing beside a token's step, and allocates nothing while tokens come.
type lookupDrafter struct {
	tokens []int32
	// table has, for each hash of draftKey tokens, where they stood last: the
	// position behind them.
	table   []int32
	match   int // where the last tokens stood before: the position behind them; 0 for nowhere
	drafted []int32
}

// draftKey is how many tokens must be the same before a draft is made, and
// confidentKey how many make it likely to be right in a text that is not known to
// repeat itself.
const (
	draftKey     = 3
	confidentKey = 2 * draftKey
)

// newLookupDrafter looks at a text that has room for context tokens, and drafts
// longest of them at most.
func newLookupDrafter(text []int32, context, longest int) *lookupDrafter {
	size := 1024
	for size < 2*context {
		size *= 2
	}
	d := &lookupDrafter{tokens: make([]int32, 0, max(context, len(text))), table: make([]int32, size),
		drafted: make([]int32, longest)}
	for _, t := range text {
		d.push(t)
	}
	return d
}

// push takes the next token of the text.
func (d *lookupDrafter) push(token int32) {
	if d == nil {
		return
	}
	d.tokens = append(d.tokens, token)
	n := len(d.tokens)
	if n < draftKey {
		return
	}
	slot := &d.table[d.hash(n)&(len(d.table)-1)]
	d.match = 0
	// Two keys may share a slot.
	if at := int(*slot); at > 0 && d.same(at, n) >= draftKey {
		d.match = at
	}
	*slot = int32(n)
}

// hash is of the draftKey tokens before position n.
func (d *lookupDrafter) hash(n int) int {
	h := uint32(2166136261)
	for _, t := range d.tokens[n-draftKey : n] {
		h = (h ^ uint32(t)) * 16777619
		h ^= h >> 15
	}
	return int(h >> 1)
}

// same is how many tokens before positions a < b are the same, as far as confidentKey.
func (d *lookupDrafter) same(a, b int) int {
	n := 0
	for n < confidentKey && n < a && d.tokens[a-1-n] == d.tokens[b-1-n] {
		n++
	}
	return n
}

// matches says whether the text's last tokens stood there before, and whether so
// many of them did that a draft is likely to be right.
func (d *lookupDrafter) matches() (found, confident bool) {
	if d == nil || d.match == 0 {
		return false, false
	}
	return true, d.same(d.match, len(d.tokens)) >= confidentKey
}

// draft is what may come next where the last tokens stood before. It is only
// valid until the next draft.
func (d *lookupDrafter) draft(n int) []int32 {
	period := len(d.tokens) - d.match // of a text that goes on repeating itself
	for i := range n {
		d.drafted[i] = d.tokens[d.match+i%period]
	}
	return d.drafted[:n]
}
