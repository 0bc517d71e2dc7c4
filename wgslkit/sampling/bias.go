package sampling

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bias is what is added to the logits of single tokens, by their ids. −Inf
// forbids a token. In JSON, which has no infinity, that is "-Infinity".
type Bias map[int32]float32

// String lists the entries as Setting.Set reads them, lowest id first.
func (b Bias) String() string {
	entries := make([]string, 0, len(b))
	for _, token := range b.tokens() {
		entries = append(entries, fmt.Sprintf("%d=%s", token, decimal(float64(b[token]), 32)))
	}
	return strings.Join(entries, " ")
}

// add reads ID=VALUE. The map is copied, as options share theirs.
func (b *Bias) add(text string) error {
	id, value, _ := strings.Cut(text, "=")
	token, err := strconv.ParseInt(strings.TrimSpace(id), 10, 32)
	if err != nil {
		return err
	}
	amount, err := strconv.ParseFloat(strings.TrimSpace(value), 32)
	if err != nil {
		return err
	}
	next := Bias{int32(token): float32(amount)}
	for other, bias := range *b {
		if other != int32(token) {
			next[other] = bias
		}
	}
	*b = next
	return nil
}

// tokens are the ids, lowest first. Of most answers, which have no bias, nothing is
// allocated.
func (b Bias) tokens() []int32 {
	if len(b) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(b))
}

func (b Bias) checkValues() error {
	for _, token := range b.tokens() {
		if bias := float64(b[token]); math.IsNaN(bias) || math.IsInf(bias, 1) {
			return &Error{
				Setting: fmt.Sprintf("logit-bias of token %d", token), Value: decimal(bias, 32),
				Wanted: "a number, or -inf to forbid the token",
			}
		}
		if token < 0 {
			return &Error{Setting: "a token of logit-bias", Value: strconv.Itoa(int(token)), Wanted: "0 or more"}
		}
	}
	return nil
}

// checkTokens refuses tokens that a vocabulary, where it is known, does not have.
func (b Bias) checkTokens(vocab int) error {
	for _, token := range b.tokens() {
		if vocab > 0 && int(token) >= vocab {
			return &Error{
				Setting: "a token of logit-bias", Value: strconv.Itoa(int(token)),
				Wanted: fmt.Sprintf("0 to %d", vocab-1),
			}
		}
	}
	return nil
}

const forbidden = "-Infinity"

// MarshalJSON writes an object with token ids as keys.
func (b Bias) MarshalJSON() ([]byte, error) {
	out := make(map[int32]any, len(b))
	for token, bias := range b {
		out[token] = bias
		if math.IsInf(float64(bias), -1) {
			out[token] = forbidden
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (b *Bias) UnmarshalJSON(raw []byte) error {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return &Error{Setting: "logit-bias", Value: "no object", Wanted: "an object with token ids as keys"}
	}
	*b = make(Bias, len(entries))
	for key, value := range entries {
		token, err := strconv.ParseInt(key, 10, 32)
		if err != nil {
			return &Error{Setting: "a token of logit-bias", Value: strconv.Quote(key), Wanted: "a token id"}
		}
		bias := float32(math.Inf(-1))
		if string(value) != `"`+forbidden+`"` {
			if err := json.Unmarshal(value, &bias); err != nil || string(value) == "null" {
				return &Error{
					Setting: fmt.Sprintf("logit-bias of token %d", token), Value: string(value),
					Wanted: `a number, or "-Infinity" to forbid the token`,
				}
			}
		}
		(*b)[int32(token)] = bias
	}
	return nil
}
