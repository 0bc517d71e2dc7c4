// Package fitting chooses, among the quantizations of a model, the one that suits this machine.
package fitting
