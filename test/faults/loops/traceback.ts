import { temporaryDir } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'
import { anyCase } from '../traceback/any-case.ts'
import { type Case, compare } from '../traceback/compare.ts'
import { compareLog } from '../traceback/compare-log.ts'
import { sayCase, shrink } from '../traceback/shrink.ts'

const CASES = 25
const LOGS = 5

/** Holds rules and their log against a model that is slow and shares nothing with them. */
export const traceback: FaultLoop = {
  name: 'traceback',
  what: `random rules over random samples, at the edges of numbers, with gaps, resets and wraps, split anywhere: the engine and a slow model find the same edges, by the reference application and by the language (${CASES} of each a round), and the log of --compat is the same bytes (${LOGS})`,
  testRounds: 12,
  async open() {
    const dir = temporaryDir()
    const seen = { steps: 0, edges: 0, unclear: 0, logs: 0, bytes: 0 }
    return {
      async round(random) {
        for (let index = 0; index < 2 * CASES; index++) {
          const each = anyCase(random, { isReference: index < CASES })
          const { edges, unclear } = compareOrShrink(each)
          seen.steps += each.stream.samples.length * each.rules.length
          seen.edges += edges
          seen.unclear += unclear
        }
        for (let index = 0; index < LOGS; index++) {
          seen.bytes += (await compareLog(random, dir.path)).bytes
          seen.logs += 1
        }
      },
      async close() {
        dir.remove()
        const { steps, edges, unclear, logs, bytes } = seen
        return `${steps} steps of rules, ${edges} edges, ${unclear} rules left out that roundings decide; ${logs} logs of ${bytes} bytes`
      },
    }
  },
}

/** Compares; a case that fails is told with as few samples as fail. */
function compareOrShrink(each: Case) {
  try {
    return compare(each)
  } catch {
    const least = shrink(each, (smaller) => {
      try {
        compare(smaller)
        return false
      } catch {
        return true
      }
    })
    return compareSaying(least)
  }
}

function compareSaying(each: Case) {
  try {
    return compare(each)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${why}\n${sayCase(each)}`, { cause })
  }
}
