// Package instead holds the file that a test has put in the built-in model's place.
package instead

// File is that file, nil outside of such tests.
var File []byte
