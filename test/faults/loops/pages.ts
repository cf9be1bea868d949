import { fuzzPages } from '../../../packages/agent/test/fuzz-pages.ts'
import { anyType } from '../../../packages/sdk/test/any-type.ts'
import type { FaultLoop } from '../loop.ts'

const TYPES = 20
const PAGES_OF_TYPE = 500

/** Gives the service pages that nobody sends. */
export const pages: FaultLoop = {
  name: 'pages',
  what: 'the service is given pages of random types whose bytes are anything (10 000 a round): it takes or refuses them, and no view is upset',
  testRounds: 5,
  async open() {
    let taken = 0
    let given = 0
    return {
      async round(random) {
        for (let i = 0; i < TYPES; i++) taken += await fuzzPages(random, anyType(random), PAGES_OF_TYPE)
        given += TYPES * PAGES_OF_TYPE
      },
      close: async () => `${given} pages, of which ${taken} were taken`,
    }
  },
}
