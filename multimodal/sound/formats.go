//go:build !js

package sound

var formats = []format{
	wavFormat,
	{"FLAC", starts("fLaC"), decodeFLAC},
	{"Ogg", starts("OggS"), decodeOgg},
	{"MP3", isMP3, decodeMP3},
}

// Files that people try, to be named in the error.
var foreign = []format{
	{name: "MP4 or M4A", is: starts("????ftyp")},
	{name: "WebM or Matroska", is: starts("\x1aE\xdf\xa3")},
	{name: "AIFF", is: starts("FORM????AIF")},
	{name: "AU", is: starts(".snd")},
	{name: "RF64", is: starts("RF64")},
	{name: "AAC", is: isAAC},
}

// isAAC looks for the header of an ADTS frame: twelve bits set, layer 0.
func isAAC(data []byte) bool {
	return len(data) >= 2 && data[0] == 0xff && data[1]&0xf6 == 0xf0
}
