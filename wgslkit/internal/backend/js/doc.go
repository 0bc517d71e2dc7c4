// Package js drives the browser's WebGPU: webgpu.js is the half in JavaScript.
package js
