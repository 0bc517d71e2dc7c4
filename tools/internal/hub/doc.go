// Package hub knows the models of Hugging Face by name: it reads what people paste, asks the public API which files
// a repository has, chooses those of one model, and downloads them into a folder of the repository's own, so that
// two publishers' files of one name are two files.
//
// Read name.go first, then listing.go (what the API answers), choose.go with quant.go (which files make a model),
// pull.go (how they come here) and local.go (what is here).
package hub
