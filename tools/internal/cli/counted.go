package cli

import "github.com/dustin/go-humanize/english"

// Counted is a number of things: 1 request, 2 requests.
func Counted[N int | int64](n N, thing string) string { return english.Plural(int(n), thing, "") }
