// Package llamacpp drives llama.cpp through its prebuilt shared libraries, which
// are opened when they are needed: it is what gemwire is compared with.
//
// Read find.go for where the libraries are looked for, abi.go for the part of
// llama.cpp's C interface that is called, library.go for opening them, and
// model.go for loading a model, reading a prompt and choosing tokens.
package llamacpp
