package command

import (
	"strconv"
	"strings"
	"unicode"
)

// printable is a name from a file as a terminal may show it: quoted where it
// holds anything that a terminal would obey.
func printable(name string) string {
	for _, r := range name {
		if !unicode.IsGraphic(r) {
			return strconv.QuoteToGraphic(name)
		}
	}
	return name
}

// harmless is a model's text without what a terminal would obey.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
