// Package tools is the home of the gemwire command: it runs models and chats with
// them, serves them to browsers, teaches them, looks into their files and measures
// how fast they are.
//
// Read cmd/gemwire/main.go and internal/command/root.go first: the latter lists
// the commands, each of which is a file in a room of that package. What a command may
// touch, how it ends, and the options that most have are in internal/cli. Beside it stand
// internal/modelref, which finds the model that a user names, internal/download,
// internal/bench, which measures a model, and internal/terminal,
// the terminal itself (Ctrl-C, progress, colours, line editing).
//
// cmd/gemwire-models is the container that lists Ollama's models. What developers
// alone want is in the module below, tools/lab.
package tools
