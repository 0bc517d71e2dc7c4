//go:build !webapp

package webapp

var archive []byte
