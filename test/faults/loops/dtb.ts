import { sampleFile } from '../../../packages/sdk/test/dtb-sample.ts'
import {
  assertFlipHolds,
  assertNothingMadeUp,
  assertPrefixHolds,
  assertReadUpTo,
  damage,
  decode,
  forge,
} from '../../dtb/damage.ts'
import { lyingTypes } from '../../dtb/lying-types.ts'
import type { FaultLoop } from '../loop.ts'

/** Damages a round; 400 rounds are a million. */
const CASES = { prefix: 400, flip: 400, damage: 700, forge: 700, lie: 300 } as const
const RECORD_COUNT_MAX = 30

/** Files of records that were cut, changed, mixed up, or made to lie with right checksums. */
export const dtb: FaultLoop = {
  name: 'dtb',
  what: 'files of records cut, flipped, shifted, blanked, or forged with right checksums, 2500 a round: the reader ends, throws nothing, gives all before the damage and nothing that was not written, and says what it ignored',
  testRounds: 3,
  async open() {
    let cases = 0
    let told = 0
    return {
      async round(random) {
        const sample = await sampleFile(random, random.integer(1, RECORD_COUNT_MAX))
        const { bytes } = sample
        for (let i = 0; i < CASES.prefix; i++) assertPrefixHolds(sample, random.integer(0, bytes.length))
        for (let i = 0; i < CASES.flip; i++) {
          assertFlipHolds(sample, random.integer(0, bytes.length - 1), random.integer(1, 255))
        }
        for (let i = 0; i < CASES.damage; i++) {
          const decoded = decode(damage(random, sample), { salvage: random.chance(0.5) })
          assertNothingMadeUp(sample, decoded)
          if (decoded.end.fault !== undefined || decoded.gaps.length > 0) told++
        }
        for (let i = 0; i < CASES.forge; i++) {
          const { bytes: forged, at } = forge(random, sample)
          const decoded = decode(forged, { salvage: random.chance(0.5) })
          assertReadUpTo(sample, decoded, at)
          if (decoded.end.fault !== undefined || decoded.gaps.length > 0) told++
        }
        for (let i = 0; i < CASES.lie; i++) {
          if (decode(lyingTypes(random), { salvage: random.chance(0.5) }).end.fault !== undefined) told++
        }
        cases += Object.values(CASES).reduce((sum, count) => sum + count, 0)
      },
      async close() {
        return `${cases} files, of which ${told} that were shifted, forged or made up were told to be damaged`
      },
    }
  },
}
