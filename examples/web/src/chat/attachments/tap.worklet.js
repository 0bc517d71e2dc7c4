// Hands a microphone's samples to the page, a few hundredths of a second at a time.
const chunk = 2048;

class Tap extends AudioWorkletProcessor {
  buffer = new Float32Array(chunk);
  filled = 0;

  process([input]) {
    const samples = input[0];
    if (!samples) return true;
    for (const value of samples) {
      this.buffer[this.filled++] = value;
      if (this.filled === chunk) {
        this.port.postMessage(this.buffer, [this.buffer.buffer]);
        this.buffer = new Float32Array(chunk);
        this.filled = 0;
      }
    }
    return true;
  }
}

registerProcessor("tap", Tap);
