import { fuzzFrames } from '../../../packages/sdk/test/fuzz-frames.ts'
import type { FaultLoop } from '../loop.ts'

const STREAMS = 10_000

/** Gives the decoders of IPC frames streams that nobody sends. */
export const frames: FaultLoop = {
  name: 'frames',
  what: 'decoders of IPC frames, of both sides, are given streams that are damaged anyhow and cut anywhere (10 000 a round): they throw typed errors and nothing else',
  testRounds: 5,
  async open() {
    let streams = 0
    return {
      async round(random) {
        fuzzFrames(random, STREAMS)
        streams += STREAMS
      },
      close: async () => `${streams} streams`,
    }
  },
}
