package gemma4

// drafter guesses what comes next by looking up the text's last tokens in the
// text before them: an answer that quotes, lists or changes what was said goes
// on as it did there. (Prompt look-up decoding, Saxena 2023.) It knows no model,
// costs nothing beside a token's step, and allocates nothing while tokens come.
type drafter struct {
	tokens []int32
	// table has, for each hash of draftKey tokens, where they stood last: the
	// position behind them.
	table []int32
	match int // where the last tokens stood before: the position behind them; 0 for nowhere

	guess   []int32
	longest int // tokens of a draft, at most
	misses  int // drafts in a row of which too little was right
	wait    int // tokens to come before the next draft

	usage *Usage // counts drafts; may be nil
}

// draftKey is how many tokens must be the same before a guess is made.
const draftKey = 3

// dearDraft is from how many tokens on a draft's pass takes several steps' time.
const dearDraft = 16

// maxDraftWait bounds how many drafts' tokens a text that does not repeat itself
// is left alone.
const maxDraftWait = 16

// newDrafter looks at a text that has room for context tokens.
func newDrafter(text []int32, context, longest int) *drafter {
	size := 1024
	for size < 2*context {
		size *= 2
	}
	d := &drafter{tokens: make([]int32, 0, max(context, len(text))), table: make([]int32, size), guess: make([]int32, longest), longest: longest}
	for _, t := range text {
		d.push(t)
	}
	return d
}

// push takes the next token of the text.
func (d *drafter) push(token int32) {
	if d == nil {
		return
	}
	d.tokens = append(d.tokens, token)
	if d.wait > 0 {
		d.wait--
	}
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
func (d *drafter) hash(n int) int {
	h := uint32(2166136261)
	for _, t := range d.tokens[n-draftKey : n] {
		h = (h ^ uint32(t)) * 16777619
		h ^= h >> 15
	}
	return int(h >> 1)
}

// same is how many tokens before positions a < b are the same, as far as twice
// the key.
func (d *drafter) same(a, b int) int {
	n := 0
	for n < 2*draftKey && n < a && d.tokens[a-1-n] == d.tokens[b-1-n] {
		n++
	}
	return n
}

// draft is what may come next, of most tokens at most; nothing where the text is new.
// It is only valid until the next draft.
func (d *drafter) draft(most int) []int32 {
	if d == nil || d.match == 0 || d.wait > 0 {
		return nil
	}
	n := min(most, d.longest)
	if d.misses > 0 {
		n = min(n, max(d.longest/2, 1))
	}
	// Where drafts are long their passes are dear, and after one that was wrong:
	// more must be the same before the next guess.
	if dear := d.longest >= dearDraft || d.misses > 0; dear && d.same(d.match, len(d.tokens)) < 2*draftKey {
		return nil
	}
	if n < max(d.longest/4, 1) {
		return nil
	}
	period := len(d.tokens) - d.match // of a text that goes on repeating itself
	for i := range n {
		d.guess[i] = d.tokens[d.match+i%period]
	}
	return d.guess[:n]
}

// learn hears how many tokens of a draft were right, and leaves a text alone for
// longer and longer of which too few are.
func (d *drafter) learn(drafted, right int) {
	if d.usage != nil {
		d.usage.Drafted += drafted
		d.usage.DraftsRight += right
	}
	if 3*right >= drafted { // long drafts are for devices where a pass takes as long as several steps
		d.misses, d.wait = 0, 0
		return
	}
	d.misses++
	d.wait = d.longest * min(1<<d.misses, maxDraftWait)
}
