package tokenizer

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// space is how the vocabulary writes " ".
const space = "▁"

// symbol is a piece under way: a stretch of a run, linked to its neighbours.
type symbol struct {
	start, end int32 // in the run
	id         int32 // None if the stretch is no piece, absorbed if it is gone
	prev, next int32 // None at the ends
}

const absorbed = None - 1

// maxRun bounds a run, so that positions fit 32 bits. It is cut there even
// where pieces could be joined.
const maxRun = 1 << 28

// encoder gathers the ids of one text; its buffers serve every run.
type encoder struct {
	t       *Tokenizer
	ids     []int
	symbols []symbol
	queue   queue
}

// text encodes what stands between special tokens.
func (e *encoder) text(text string) {
	if text == "" {
		return
	}
	if e.t.vocabulary.AddSpacePrefix {
		text = " " + text
	}
	text = strings.ReplaceAll(text, " ", space)
	begin := len(e.ids)
	for text != "" {
		n := e.cut(text)
		e.split(text[:n])
		e.merge(text[:n])
		e.emit(text[:n])
		text = text[n:]
	}
	e.fuseUnknown(begin)
}

// fuseUnknown leaves one unknown token of several in a row.
func (e *encoder) fuseUnknown(begin int) {
	kept := begin
	for i := begin; i < len(e.ids); i++ {
		if e.ids[i] == e.t.vocabulary.UNK && kept > begin && e.ids[kept-1] == e.ids[i] {
			continue
		}
		e.ids[kept] = e.ids[i]
		kept++
	}
	e.ids = e.ids[:kept]
}

// cut is the length of the first run: up to where nothing can be joined.
func (e *encoder) cut(text string) int {
	_, last, size := e.character(text)
	for at := size; at < len(text); at += size {
		var first, end rune
		first, end, size = e.character(text[at:])
		if at >= maxRun || !e.t.joins.has(last, first) {
			return at
		}
		last = end
	}
	return len(text)
}

// character is the first character of text and the runes at both ends of how
// pieces spell it: itself, or "<0x0A>".
func (e *encoder) character(text string) (first, last rune, size int) {
	if c := text[0]; c < utf8.RuneSelf {
		if e.t.ascii[c] != None || !e.t.bytewise {
			return rune(c), rune(c), 1
		}
		return '<', '>', 1
	}
	r, size := utf8.DecodeRuneInString(text)
	if e.t.bytewise {
		if _, ok := e.piece(text[:size]); !ok {
			return '<', '>', size
		}
	}
	return r, r, size
}

// piece is the ordinary piece of a single character.
func (e *encoder) piece(character string) (int32, bool) {
	if c := character[0]; c < utf8.RuneSelf {
		return e.t.ascii[c], e.t.ascii[c] != None
	}
	id, ok := e.t.known.id(character)
	return id, ok && e.t.matchable(id)
}

// split fills e.symbols with the characters of a run.
func (e *encoder) split(run string) {
	e.symbols = slices.Grow(e.symbols[:0], utf8.RuneCountInString(run))
	for at := 0; at < len(run); {
		_, size := utf8.DecodeRuneInString(run[at:])
		id, ok := e.piece(run[at : at+size])
		switch {
		case ok:
			e.add(at, at+size, id)
		case e.t.bytewise:
			e.addBytes(run, at, at+size)
		default:
			e.add(at, at+size, None)
		}
		at += size
	}
	for i := range e.symbols {
		e.symbols[i].prev, e.symbols[i].next = int32(i)-1, int32(i)+1
	}
	e.symbols[len(e.symbols)-1].next = None
}

func (e *encoder) add(start, end int, id int32) {
	e.symbols = append(e.symbols, symbol{start: int32(start), end: int32(end), id: id})
}

// addBytes adds a character as its bytes, if there are pieces for them.
func (e *encoder) addBytes(run string, start, end int) {
	if !e.t.hasBytes(run[start:end]) {
		e.add(start, end, None)
		return
	}
	for i := start; i < end; i++ {
		e.add(i, i+1, e.t.bytes[run[i]])
	}
}

func (t *Tokenizer) hasBytes(text string) bool {
	for i := range len(text) {
		if t.bytes[text[i]] == None {
			return false
		}
	}
	return true
}

// emit appends the ids of the merged run.
func (e *encoder) emit(run string) {
	for i := int32(0); i != None; i = e.symbols[i].next {
		s := e.symbols[i]
		if s.id != None {
			e.ids = append(e.ids, int(s.id))
			continue
		}
		e.emitBytes(run[s.start:s.end])
	}
}

func (e *encoder) emitBytes(text string) {
	if !e.t.hasBytes(text) {
		e.ids = append(e.ids, e.t.vocabulary.UNK)
		return
	}
	for i := range len(text) {
		e.ids = append(e.ids, int(e.t.bytes[text[i]]))
	}
}
