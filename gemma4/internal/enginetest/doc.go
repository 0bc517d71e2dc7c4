// Package enginetest holds tests that every engine passes.
package enginetest
