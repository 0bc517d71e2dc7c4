//go:build !js

package multimodal

import "github.com/gemwire/gemwire/multimodal/picture"

// decodePicture reads an image file with Go's decoders.
var decodePicture = picture.Decode
