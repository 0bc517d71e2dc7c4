// Package forms makes random JSON schemas whose values are bounded, so that an answer held to one ends, whatever the
// model says. Its test lets the built-in model answer in them, and a validator of another project judge the answers.
package forms
