package sampling

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ErrSetting says that a setting has a value that makes no sense.
var ErrSetting = errors.New("invalid sampling setting")

// Setting is a setting of T. Its name in every language follows from Name:
// "top-k" is TopK in Go, topK in JavaScript, top_k in C, and --top-k on a command line.
type Setting[T any] struct {
	Name     string       // words joined by hyphens
	Aliases  []string     // further names, spelt like Name: those of other programs
	At       func(*T) any // where it lies: *float32, *int, *uint64, *[]string or *Bias
	Min, Max float64      // of numbers, infinite where there is no bound
	Zero     float64      // the number that a zero field stands for, where that is not 0 itself
	Unit     string       // what a number counts, "" where it has no unit
	Step     Step         // the part of a choice that it belongs to, "" where none
	Help     string       // a sentence that begins in lower case, without its period
}

// Field is the setting's name in Go.
func (s Setting[T]) Field() string {
	words := strings.Split(s.Name, "-")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// JS is the setting's name in JavaScript.
func (s Setting[T]) JS() string { return strings.ToLower(s.Name[:1]) + s.Field()[1:] }

// C is the setting's name in C, and that of OpenAI's and Ollama's APIs unless an alias says otherwise.
func (s Setting[T]) C() string { return strings.ReplaceAll(s.Name, "-", "_") }

// Whole says whether a value is a number without a fraction.
func (s Setting[T]) Whole() bool {
	switch s.At(new(T)).(type) {
	case *int, *uint64:
		return true
	}
	return false
}

// List says whether Set adds an entry to what is there.
func (s Setting[T]) List() bool {
	switch s.At(new(T)).(type) {
	case *Bias, *[]string:
		return true
	}
	return false
}

// Number is the value of a setting that is a number, ok where it is one. A zero
// is given as what it stands for.
func (s Setting[T]) Number(of *T) (value float64, ok bool) {
	switch at := s.At(of).(type) {
	case *float32:
		value = float64(*at)
	case *int:
		value = float64(*at)
	case *uint64:
		value = float64(*at)
	default:
		return 0, false
	}
	if value == 0 {
		return s.Zero, true
	}
	return value, true
}

// Text is the setting's value as Set reads it.
func (s Setting[T]) Text(of *T) string {
	switch at := s.At(of).(type) {
	case *uint64:
		return strconv.FormatUint(*at, 10)
	case *[]string:
		return strings.Join(*at, " ")
	case *Bias:
		return at.String()
	case *float32:
		if *at != 0 || s.Zero == 0 {
			return decimal(float64(*at), 32)
		}
	}
	value, _ := s.Number(of)
	return decimal(value, 64)
}

// Set reads the setting's value from a text: a number; of a list, one more
// entry. The error wraps ErrSetting and says which values there are.
func (s Setting[T]) Set(of *T, text string) error {
	err := s.parse(of, text)
	if err != nil || s.check(of) != nil {
		return s.wrong(text)
	}
	return nil
}

func (s Setting[T]) parse(of *T, text string) error {
	number := strings.TrimSpace(text)
	switch at := s.At(of).(type) {
	case *float32:
		value, err := strconv.ParseFloat(number, 32)
		if err != nil {
			return err
		}
		*at = float32(value)
	case *int:
		value, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		*at = value
	case *uint64:
		value, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return err
		}
		*at = value
	case *[]string:
		*at = append(slices.Clip(*at), text)
	case *Bias:
		return at.add(text)
	}
	return nil
}

// Clear sets the setting to its zero value.
func (s Setting[T]) Clear(of *T) {
	switch at := s.At(of).(type) {
	case *float32:
		*at = 0
	case *int:
		*at = 0
	case *uint64:
		*at = 0
	case *[]string:
		*at = nil
	case *Bias:
		*at = nil
	}
}

// Wanted says which values there are: "a number from 0 to 100".
func (s Setting[T]) Wanted() string {
	kind := "a number"
	switch s.At(new(T)).(type) {
	case *int, *uint64:
		kind = "a whole number"
	case *[]string:
		return "a text"
	case *Bias:
		return "ID=VALUE, such as 42=-5 or 42=-inf"
	}
	low, high := !math.IsInf(s.Min, 0), !math.IsInf(s.Max, 0)
	switch {
	case low && high:
		return fmt.Sprintf("%s from %s to %s", kind, decimal(s.Min, 64), decimal(s.Max, 64))
	case low:
		return fmt.Sprintf("%s, %s or more", kind, decimal(s.Min, 64))
	case high:
		return fmt.Sprintf("%s, %s at most", kind, decimal(s.Max, 64))
	}
	return kind
}

// Error is a setting with a value that makes no sense. It wraps ErrSetting.
type Error struct {
	Setting string // its name
	Value   string // as it was given
	Wanted  string // which values there are
}

// Error is a sentence for whoever has set it.
func (e *Error) Error() string {
	return fmt.Sprintf("%s is %s; wanted %s", e.Setting, e.Value, e.Wanted)
}

// Unwrap returns ErrSetting.
func (e *Error) Unwrap() error { return ErrSetting }

func (s Setting[T]) wrong(value string) error {
	if value == "" || strings.ContainsAny(value, " \t\r\n") {
		value = strconv.Quote(value)
	}
	return &Error{Setting: s.Name, Value: value, Wanted: s.Wanted()}
}

func (s Setting[T]) check(of *T) error {
	switch at := s.At(of).(type) {
	case *Bias:
		return at.checkValues()
	case *[]string, *uint64:
		return nil
	case *float32:
		if value := float64(*at); !(value >= s.Min && value <= s.Max) { // so that NaN fails too
			return s.wrong(decimal(value, 32))
		}
	case *int:
		if value := float64(*at); value < s.Min || value > s.Max {
			return s.wrong(strconv.Itoa(*at))
		}
	}
	return nil
}

// Check returns an error wrapping ErrSetting that names the first setting whose
// value is out of its bounds.
func Check[T any](settings []Setting[T], of *T) error {
	for _, s := range settings {
		if err := s.check(of); err != nil {
			return err
		}
	}
	return nil
}

// decimal is a number as people write it: with an exponent only where there
// would be too many zeros.
func decimal(value float64, bits int) string {
	if size := math.Abs(value); size != 0 && (size < 1e-4 || size >= 1e15) {
		return strconv.FormatFloat(value, 'g', -1, bits)
	}
	return strconv.FormatFloat(value, 'f', -1, bits)
}

// Find returns the setting with a name, in any language's spelling, or with an alias.
func Find[T any](settings []Setting[T], name string) (found Setting[T], ok bool) {
	dashed := strings.ReplaceAll(name, "_", "-")
	for _, s := range settings {
		if s.Name == dashed || s.JS() == name || slices.Contains(s.Aliases, dashed) {
			return s, true
		}
	}
	return found, false
}
