// Package tools is the home of the gemwire command: it chats, shows what is in a
// model file, checks the numbers and measures them.
//
// Read cmd/gemwire/main.go and internal/command/root.go first: the latter lists
// the commands, each of which is a file of that package. What they share stands
// beside it: internal/modelref finds the model that a user names,
// internal/download fetches one, internal/serve is the web server, internal/terminal is the terminal itself
// (Ctrl-C, progress, colours, line editing), and internal/release makes releases of
// this repository.
package tools
