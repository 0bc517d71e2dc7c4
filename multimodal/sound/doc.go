// Package sound makes of a recording what the audio tower takes: a mel
// spectrogram, as the models' reference makes it.
//
// Three steps, each of which can be called alone:
//
//	samples, err := sound.Decode(ctx, data, sound.Limits{}) // bytes → mono, at the file's rate
//	wave, err := samples.Mono16k()                           // → 16 kHz
//	frames, valid, err := sound.Mel(wave)                    // → 128 bands every 10 ms
//
// WAV is read everywhere; FLAC, MP3 and Ogg (Vorbis, Opus) natively. In a browser
// its own decoders read more than these, and [FromFloat] takes what they made;
// the libraries are not linked there.
//
// The models hear 30 s at a time. A longer recording is an error, never cut
// silently: decode it with a larger [Limits] and cut it on purpose, with [Split].
//
// Read samples.go and decode.go first, then the way of the samples: one file for
// each format (wav.go, flac.go, mp3.go, ogg.go with vorbis.go and opus.go), mix.go,
// resample.go, split.go, mel.go.
package sound
