//go:build js

package js

// Uploads of fewer bytes than SmallUpload are left to the queue, which copies them
// once more. Others go in pieces of at most UploadPiece, into memory that the GPU's
// process shares: it lasts as long as uploads are held, and OPFS is read straight into it.
// Of a JSFiller so many bytes are uploaded as PourChunk says before Go looks after it again:
// on a slow disk, for half a second.
const (
	SmallUpload = 512 << 10
	UploadPiece = 8 << 20
	PourChunk   = 128 << 20
)

// PieceOf is how much of n bytes goes at once: pieces are alike, in whole words.
func PieceOf(n int64) int64 {
	pieces := (n + UploadPiece - 1) / UploadPiece
	return ((n+pieces-1)/pieces + 3) &^ 3
}

// piecesOf are the pieces that uploads of so many bytes of a JSFiller go in.
func piecesOf(uploads []int64) (pieces []uint32) {
	for _, size := range uploads {
		for ; size >= SmallUpload; size -= min(size, PourChunk) {
			chunk := min(size, PourChunk)
			for piece := PieceOf(chunk); chunk > 0; chunk -= min(piece, chunk) {
				pieces = append(pieces, uint32(min(piece, chunk)))
			}
		}
	}
	return pieces
}
