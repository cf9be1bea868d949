import { fuzzExposition } from '../../../packages/sdk/test/fuzz-exposition.ts'
import type { FaultLoop } from '../loop.ts'

const BODIES = 500

/** Gives the parser of scrapes bodies that no exporter writes. */
export const scrapes: FaultLoop = {
  name: 'scrapes',
  what: 'the parser of scrapes is given bodies that are sound, damaged and anything (500 of each a round): it never throws, and a damaged line costs no other',
  testRounds: 3,
  async open() {
    let given = 0
    return {
      async round(random) {
        fuzzExposition(random, BODIES)
        given += 3 * BODIES
      },
      close: async () => `${given} bodies`,
    }
  },
}
