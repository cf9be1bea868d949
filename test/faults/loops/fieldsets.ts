import { counter, defineType, gauge, label, timestamp } from '../../../packages/sdk/src/index.ts'
import { fuzzFieldSet } from '../../../packages/sdk/test/field-set-fuzz.ts'
import type { FaultLoop } from '../loop.ts'

/** Texts of a round: 100 rounds are a million. */
const TEXTS = 10_000

const port = defineType('port', 'A port', {
  time: timestamp(),
  device: label(),
  xmit_total: counter('u64'),
  speed: gauge('f64'),
})

/** Compiles field sets of random text. */
export const fieldsets: FaultLoop = {
  name: 'fieldsets',
  what: `${TEXTS} random texts a round are read as .cset and .fset: each is a filter, or an error that names its line and column`,
  testRounds: 5,
  async open() {
    let texts = 0
    let filters = 0
    return {
      async round(random) {
        for (let i = 0; i < TEXTS; i++) if (fuzzFieldSet(random, port)) filters++
        texts += TEXTS
      },
      close: async () => `${texts} texts, ${filters} of them filters`,
    }
  },
}
