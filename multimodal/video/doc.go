// Package video takes frames and sound out of a video: a GIF, WebP or PNG with several
// frames, a folder of pictures, frames that somebody else decoded, and, where ffmpeg is
// installed, whatever that reads.
//
//	clip, err := video.OpenPath(ctx, "clip.mp4", video.Options{})
//	defer clip.Close()
//	indices := video.Sample(clip.Frames, video.DefaultFrames)
//	err = clip.Each(ctx, indices, func(i int, m *picture.RGB) error { … })
//
// Which frames a model sees, and how their times are written, is that of the models'
// reference (transformers' sample_frames and Gemma4Processor).
//
// ffmpeg is run as a program of its own, found in PATH or named by GEMWIRE_FFMPEG: it is
// given one local file, may open no other and no address, and ends with the context.
//
// Read sample.go for the rule, clip.go for what can be opened, then ffmpeg.go.
package video
