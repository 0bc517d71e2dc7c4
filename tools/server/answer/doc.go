// Package answer is what the APIs of a server have in common: a request that says what is to be answered and how, in no
// API's own words, and the events that come of it. An API translates its requests into one, and the events back.
//
// Read request.go first, then service.go (from a model's name to events), events.go, fault.go (what went wrong, and
// whose fault it is), media.go and spelling.go (tokens as text). metrics.go counts.
package answer
