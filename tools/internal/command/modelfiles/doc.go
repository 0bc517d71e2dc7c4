// Package modelfiles has the commands that make model files: quantize, imatrix and convert. They read flags and print;
// the work is done by gguf/quantize, gguf/imatrix, gemma4/importance and gemma4/convert.
package modelfiles
