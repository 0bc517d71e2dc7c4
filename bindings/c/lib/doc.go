// Package main is the C library: the functions of ../include/gemwire.h, each a
// few lines over package engine. The header is in every preamble, so that the C
// compiler compares it with what is exported here.
//
// values.go takes C's values to Go and back, thread.c keeps what belongs to a
// thread and calls callbacks; the other files export.
package main

func main() {}
