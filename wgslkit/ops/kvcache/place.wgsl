// Where a program's tokens stand, and which of a cache's heads are theirs.
//
//   one text      token t is at position state[0] + t
//   APART         each token is the next one of a text of its own: state[5 + 2·t] is its position, state[6 + 2·t]
//                 its stream
//
// Where STREAMS, a cache holds state[4] texts: head h of stream s is h·state[4] + s of its heads. A program of one
// text takes stream state[3]. The includer has `state: array<u32>`.

fn position_of(token: u32) -> u32 {
//#if APART
  return state[5u + 2u * token];
//#else
  return state[0] + token;
//#end
}

fn cache_head(head: u32, token: u32) -> u32 {
//#if APART
  return head * state[4] + state[6u + 2u * token];
//#else
//#if STREAMS
  return head * state[4] + state[3];
//#else
  return head;
//#end
//#end
}
