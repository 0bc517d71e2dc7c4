// Package tokenizer turns text into Gemma 4's token ids and back.
//
// It is a byte-pair encoder over Unicode characters: text is first cut at
// special tokens, spaces become "▁" (U+2581), and then neighbouring pieces are
// merged by rank over the whole run, without a division into words. What the
// vocabulary does not know falls back to its UTF-8 bytes. Files in the older
// form without merges are served by their scores instead.
//
// [Tokenizer.Encode] takes text from outside: special tokens in it stay
// ordinary text, so that nobody can forge a turn. [Tokenizer.EncodeSpecial]
// takes a template's own text, and [Tokenizer.EncodeSpans] a mixture.
//
// Read vocabulary.go for what a file gives, tokenizer.go for how it is
// prepared, then encode.go (cutting at special tokens, found by special.go),
// symbols.go (text to symbols) and merge.go (symbols to pieces, ordered by
// ranks.go), and at last decode.go.
package tokenizer
