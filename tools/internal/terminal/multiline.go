package terminal

import "strings"

// quotes open and close a text of several lines.
const quotes = `"""`

// continues says whether a message goes on in the next line: after a backslash,
// or between quotes.
func continues(text string) bool {
	if strings.HasPrefix(strings.TrimSpace(text), quotes) {
		return !isQuoted(text)
	}
	return strings.HasSuffix(text, `\`)
}

func isQuoted(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) >= 2*len(quotes) && strings.HasPrefix(text, quotes) && strings.HasSuffix(text, quotes)
}

// plain is a message without what held its lines together.
func plain(text string) string {
	if isQuoted(text) {
		text = strings.TrimSpace(text)
		return strings.Trim(text[len(quotes):len(text)-len(quotes)], "\n")
	}
	return strings.ReplaceAll(text, "\\\n", "\n")
}
