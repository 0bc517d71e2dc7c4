// Package grammar holds what a model writes to a form: JSON, a JSON schema, a regular expression, a choice, a
// grammar in llama.cpp's notation, or Gemma's tool calls. It knows a vocabulary, and nothing of a model.
//
// A [Vocabulary] is made once: it is a trie over the bytes of all tokens. [Compile] turns a form into a [Constraint],
// which any number of answers may share. Each answer walks it with a [Matcher] of its own: ask for the mask of the
// tokens that may come next, accept one, go on until the answer may end.
//
// A constraint is a context-free grammar whose terminals are regular expressions over bytes. They are matched by their
// derivatives (regex.go), made when first needed. The grammar runs as a set of threads over stacks that share their
// tails (machine.go), and turns itself into an automaton on the way. A mask (mask.go) is made of what a terminal allows
// by itself, kept for each of its states, and of the few tokens that reach beyond its end. What a state allows is found
// by way of a state that is like it (similar.go). Read vocabulary.go, regex.go, program.go, machine.go, mask.go,
// similar.go and matcher.go in this order; then the forms: json.go, pattern.go, gbnf.go, schema.go, which says in which
// order to read on, and tools.go with control.go and spelling.go for tool calls.
//
// What a form says is kept, or refused with an error that names what cannot be honoured. No form is made weaker.
package grammar
