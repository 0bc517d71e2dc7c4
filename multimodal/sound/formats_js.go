package sound

// A browser decodes all but WAV itself, see [FromFloat]: its decodeAudioData reads
// what it plays. WAV stays, so that its samples are the same everywhere.
var formats = []format{wavFormat}

var foreign = []format{
	{name: "FLAC is left to the browser's decodeAudioData", is: starts("fLaC")},
	{name: "Ogg is left to the browser's decodeAudioData", is: starts("OggS")},
}
