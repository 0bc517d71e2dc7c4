// A network link of a speed that a test chooses, in front of a server. All connections share it, whoever opened them:
// Chrome's own throttling leaves out the service worker, and one that is attached too has a second link for itself.
import { createServer, request as ask } from "node:http";

const piece = 16 << 10;

/** slowLink passes on what the server at origin answers, so many bytes a second in all. */
export async function slowLink(origin, bytesPerSecond) {
  const answers = [];
  let free = 0; // when the link has sent what it was given
  const turn = (bytes) => {
    free = Math.max(free, performance.now()) + (1000 * bytes) / bytesPerSecond;
    return new Promise((resolve) => setTimeout(resolve, free - performance.now()));
  };

  async function pass(answer, response, { pathname }) {
    const one = { pathname, bytes: 0, done: false };
    answers.push(one);
    response.writeHead(answer.statusCode, answer.headers);
    for await (const chunk of answer)
      for (let at = 0; at < chunk.length; at += piece) {
        const part = chunk.subarray(at, at + piece);
        await turn(part.length);
        if (response.destroyed) return answer.destroy();
        response.write(part);
        one.bytes += part.length;
      }
    one.done = true;
    response.end();
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url, origin);
    const onward = ask(url, { method: request.method, headers: request.headers }, (answer) =>
      pass(answer, response, url).catch(() => response.destroy()),
    );
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://localhost:${server.address().port}`,
    /** What has been answered, in order: the path, how many bytes of the body have passed, and whether all have. */
    answers,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}
