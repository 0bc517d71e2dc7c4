package video

import "errors"

// What a caller can act on. Errors of this package wrap one of these, one of package
// picture's or sound's, or the cause of a cancelled context.
var (
	// ErrFormat: no video, or one in a format that is not read here.
	ErrFormat = errors.New("not a video that can be read")
	// ErrNoFFmpeg: the video takes ffmpeg, which is not installed.
	ErrNoFFmpeg = errors.New("ffmpeg is not installed, and this video takes it")
	// ErrDamaged: the file breaks off or contradicts its format.
	ErrDamaged = errors.New("the video is damaged or cut off")
	// ErrNoSound: the video has no sound.
	ErrNoSound = errors.New("the video has no sound")
	// ErrFrames: frames that are no video, such as none at all.
	ErrFrames = errors.New("unusable frames of a video")
)
