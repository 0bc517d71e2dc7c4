package maskbench

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Hub reads the pieces of a Hugging Face tokenizer.json of Gemma's kind: "▁" is a space, "<0x41>" a byte, and special
// tokens are no text. The end is <end_of_turn>, <turn|> or <eos>.
func Hub(path string) (pieces [][]byte, ends []int, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	var f struct {
		Added []struct {
			ID      int    `json:"id"`
			Content string `json:"content"`
			Special bool   `json:"special"`
		} `json:"added_tokens"`
		Model struct {
			Vocab map[string]int `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(raw, &f); err != nil || len(f.Model.Vocab) == 0 {
		return nil, nil, fmt.Errorf("%w: %s is not the tokenizer.json of a model with pieces", ErrData, path)
	}
	pieces = make([][]byte, len(f.Model.Vocab))
	for text, id := range f.Model.Vocab {
		if id < 0 || id >= len(pieces) {
			return nil, nil, fmt.Errorf("%w: %s: piece %q has number %d of %d", ErrData, path, text, id, len(pieces))
		}
		pieces[id] = pieceBytes(text)
	}
	for _, a := range f.Added {
		if a.Special && a.ID >= 0 && a.ID < len(pieces) {
			pieces[a.ID] = nil
			if a.Content == "<end_of_turn>" || a.Content == "<turn|>" || a.Content == "<eos>" {
				ends = append(ends, a.ID)
			}
		}
	}
	return pieces, ends, nil
}

func pieceBytes(text string) []byte {
	if len(text) == 6 && strings.HasPrefix(text, "<0x") {
		if b, err := hex.DecodeString(text[3:5]); err == nil {
			return b
		}
	}
	return []byte(strings.ReplaceAll(text, "▁", " "))
}
