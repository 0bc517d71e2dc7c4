// A block type's codebook, which lies behind the params of a kernel as CODEBOOK vectors of four words
// (codebook.go). Where SHARED_CODEBOOK, a workgroup's threads copy it to memory first: read by places that differ
// from thread to thread, a uniform is slow on most GPUs.

//#if SHARED_CODEBOOK
const CODEBOOK_WORDS: u32 = CODEBOOK * 4u;
var<workgroup> codebook: array<u32, CODEBOOK_WORDS>;

// share_codebook is for all threads of a workgroup, before the first of them decodes.
fn share_codebook(thread: u32, threads: u32) {
  for (var i = thread; i < CODEBOOK; i += threads) {
    let four = params.codebook[i];
    codebook[4u * i] = four.x;
    codebook[4u * i + 1u] = four.y;
    codebook[4u * i + 2u] = four.z;
    codebook[4u * i + 3u] = four.w;
  }
  workgroupBarrier();
}

fn codebook_word(i: u32) -> u32 { return codebook[i]; }
//#else
fn codebook_word(i: u32) -> u32 { return params.codebook[i / 4u][i % 4u]; }
//#end
