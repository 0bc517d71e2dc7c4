package flagset

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is a name from a file as a terminal may show it: quoted where it
// holds anything that a terminal would obey.
func Printable(name string) string {
	if !utf8.ValidString(name) {
		return strconv.QuoteToGraphic(name)
	}
	for _, r := range name {
		if !unicode.IsGraphic(r) {
			return strconv.QuoteToGraphic(name)
		}
	}
	return name
}

// Harmless is a model's text without what a terminal would obey.
func Harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
