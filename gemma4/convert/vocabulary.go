package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Types of tokens in tokenizer.ggml.token_type.
const (
	normalToken      = 1
	controlToken     = 3
	userDefinedToken = 4
	unusedToken      = 5
	byteToken        = 6
)

// noScore is the score of every piece: merges decide, not scores.
const noScore = -1000

// visibleTokens are control tokens that parsers of answers have to see.
var visibleTokens = map[string]bool{
	"<|channel>": true, "<channel|>": true, "<|tool_call>": true, "<tool_call|>": true, "<|tool_response>": true,
	"<tool_response|>": true, `<|"|>`: true,
}

// namedTokens are keys of tokens by what they say.
var namedTokens = []struct{ key, text string }{
	{"bos_token_id", "<bos>"}, {"eos_token_id", "<eos>"}, {"unknown_token_id", "<unk>"}, {"padding_token_id", "<pad>"},
	{"mask_token_id", "<mask>"}, {"eot_token_id", "<turn|>"},
}

// tokenizerFile is what of tokenizer.json is taken.
type tokenizerFile struct {
	Model struct {
		Type   string         `json:"type"`
		Vocab  map[string]int `json:"vocab"`
		Merges []merge        `json:"merges"`
	} `json:"model"`
	Added []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
}

// merge is two pieces with a space between; newer files have them as a pair.
type merge string

func (m *merge) UnmarshalJSON(b []byte) error {
	var pair []string
	if json.Unmarshal(b, &pair) == nil {
		*m = merge(strings.Join(pair, " "))
		return nil
	}
	return json.Unmarshal(b, (*string)(m))
}

// vocabulary sets the tokenizer's keys for a table of so many rows.
func (f *Folder) vocabulary(set func(key string, value any), rows int) error {
	var t tokenizerFile
	if err := readJSON(filepath.Join(f.Path, "tokenizer.json"), &t); err != nil {
		return err
	}
	if t.Model.Type != "" && t.Model.Type != "BPE" {
		return fmt.Errorf("tokenizer.json is of the kind %q, wanted BPE: %w", t.Model.Type, ErrConfig)
	}
	tokens, types := make([]string, rows), make([]int32, rows)
	ids := map[string]int{}
	put := func(text string, id int, kind int32) error {
		if id < 0 || id >= rows {
			return fmt.Errorf("tokenizer.json has token %d, the embedding %d rows: %w", id, rows, ErrConfig)
		}
		tokens[id], types[id], ids[text] = text, kind, id
		return nil
	}
	for text, id := range t.Model.Vocab {
		kind := int32(normalToken)
		if len(text) == 6 && strings.HasPrefix(text, "<0x") && text[5] == '>' {
			kind = byteToken
		}
		if err := put(text, id, kind); err != nil {
			return err
		}
	}
	for _, a := range t.Added {
		kind := int32(userDefinedToken)
		if a.Special && !visibleTokens[a.Content] {
			kind = controlToken
		}
		if err := put(a.Content, a.ID, kind); err != nil {
			return err
		}
	}
	scores := make([]float32, rows)
	for i := range tokens {
		scores[i] = noScore
		if types[i] == 0 {
			tokens[i], types[i] = fmt.Sprintf("[PAD%d]", i), unusedToken
		}
	}
	merges := make([]string, len(t.Model.Merges))
	for i, m := range t.Model.Merges {
		merges[i] = string(m)
	}
	set("tokenizer.ggml.model", "gemma4")
	set("tokenizer.ggml.pre", "gemma4")
	set("tokenizer.ggml.tokens", tokens)
	set("tokenizer.ggml.scores", scores)
	set("tokenizer.ggml.token_type", types)
	set("tokenizer.ggml.merges", merges)
	for _, n := range namedTokens {
		if id, ok := ids[n.text]; ok {
			set("tokenizer.ggml."+n.key, uint32(id))
		}
	}
	set("tokenizer.ggml.add_bos_token", true)
	set("tokenizer.ggml.add_space_prefix", false)
	return f.ends(set)
}

// ends sets the tokens that end an answer, and the chat template.
func (f *Folder) ends(set func(key string, value any)) error {
	var generation fields
	err := readJSON(filepath.Join(f.Path, "generation_config.json"), &generation)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for from, key := range map[string]string{
		"eos_token_id": "tokenizer.ggml.eos_token_ids", "suppress_tokens": "tokenizer.ggml.suppress_tokens",
	} {
		list, _ := generation[from].([]any)
		var ids []int32
		for _, v := range list {
			if n, ok := v.(float64); ok {
				ids = append(ids, int32(n))
			}
		}
		if len(ids) > 0 {
			set(key, ids)
		}
	}
	template, err := os.ReadFile(filepath.Join(f.Path, "chat_template.jinja"))
	if err == nil && len(template) < 1<<20 {
		set("tokenizer.chat_template", string(template))
	}
	return nil
}
