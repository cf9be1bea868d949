import type { Random } from '../../../packages/sdk/test/random.ts'
import { anyReferenceRules, anyRules } from './any-rules.ts'
import { anyStream } from './any-samples.ts'
import type { Case } from './compare.ts'

const SAMPLES_MAX = 400
const RULES_MAX = 12

/** Random samples, rules and splits. */
export function anyCase(random: Random, { isReference }: { readonly isReference: boolean }): Case {
  const samples = random.integer(1, random.pick([10, 60, SAMPLES_MAX]))
  const stream = anyStream(random, { samples, isReference })
  const count = random.integer(1, RULES_MAX)
  const way = {
    chunkSamples: random.pick([1, 2, 7, 64, 513]),
    isRingSmall: random.chance(0.5),
    seed: random.integer(0, 0x7fffffff),
  }
  if (!isReference) return { stream, rules: anyRules(random, stream, count), ...way }
  const depth = 2 ** random.integer(0, 6)
  return { stream, rules: anyReferenceRules(random, stream, depth, count), depth, ...way }
}
