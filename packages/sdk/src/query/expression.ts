import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'
import { messageOf, SondeError } from '../errors.ts'

/** Limit of the length of an expression. Unit: characters. */
const LENGTH_LIMIT = 512
/**
 * Limit of the compiled program of an expression, and so of the cost of one character of a text. Unit: instructions.
 */
const PROGRAM_LIMIT = 1000
/**
 * Number of cached expressions. A hostile expression may grow to 8 MiB with many texts.
 */
const KEPT_COUNT = 16

/**
 * Limit of program size times text length: the longest label with a quarter of the largest program. Unit: instructions
 * times characters.
 */
const TEST_LIMIT = 1_000_000
/**
 * The highest charge for a thousand of these, so that a pause of the process is not charged to a test. Unit:
 * milliseconds.
 */
const MS_PER_THOUSAND = 0.1
/**
 * Budget of expressions in a thread: a share of the time in the long run, and a burst. Policy: a query over the budget
 * is refused, so that slow expressions never block the thread for others. Unit: milliseconds.
 */
const SHARE = 0.25
const BURST_MS = 100

let leftMs = BURST_MS
let lookedMs = 0

/** Whether a whole text matches an expression. */
export type Matches = (text: string) => boolean

/** The least recently used expression is first. */
const kept = new Map<string, Matches>()
let engine: typeof RE2JS | undefined

/**
 * Makes the test of an expression with the semantics of Prometheus: RE2 syntax, anchored at both ends, `.` is any
 * character. Its time is linear in the length of the text for every expression, so that expressions of strangers are
 * safe. The last few expressions are cached, because a live stream repeats its query at every step.
 *
 * The test throws `QRY_FORM` if expression and text together are too large, and `QRY_BUSY` if expressions have used
 * their budget of the thread.
 *
 * @throws SondeError `QRY_FORM` with the expression and the reason: invalid, over 512 characters, or over 1 000
 * instructions.
 */
export function expressionOf(source: string, place: string): Matches {
  const matches = kept.get(source) ?? compile(source, place)
  kept.delete(source)
  kept.set(source, matches)
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_COUNT) break
    kept.delete(oldest)
  }
  return matches
}

/** Resets the budget of expressions, for callers that give each request a budget of its own. */
export function refillExpressions(): void {
  leftMs = BURST_MS
}

function compile(source: string, place: string): Matches {
  if (source.length > LENGTH_LIMIT) {
    throw refused(place, source, `it has ${source.length} characters; at most ${LENGTH_LIMIT}`)
  }
  // A short expression can expand to millions of instructions, which would be allocated before they are counted.
  if (repetitionsOf(source) > PROGRAM_LIMIT) throw tooLarge(place, source)
  const { compile, DOTALL } = loadEngine()
  let expression: RE2JS
  try {
    expression = compile(source, DOTALL)
  } catch (cause) {
    throw refused(place, source, messageOf(cause), cause)
  }
  const size = expression.programSize()
  if (size > PROGRAM_LIMIT) throw tooLarge(place, source)
  // The cached error must not name the place of the first query: the next query may have it elsewhere.
  return (text) => {
    const cost = size * text.length
    if (cost > TEST_LIMIT)
      throw refused(
        'a matcher',
        source,
        `it takes ${size} instructions, too many for a label of ${text.length} characters`,
      )
    const startMs = performance.now()
    leftMs = Math.min(BURST_MS, leftMs + Math.max(0, startMs - lookedMs) * SHARE)
    lookedMs = startMs
    if (leftMs < 0) throw busy()
    const isMatch = expression.matches(text)
    leftMs -= Math.min(performance.now() - startMs, (cost / 1000) * MS_PER_THOUSAND)
    return isMatch
  }
}

function busy(): SondeError {
  return new SondeError(
    'QRY_BUSY',
    'regular expressions take too much of the processor; ask again later, or for simpler ones',
  )
}

/** The sum of all counts such as `{8}`: a lower bound of the program size, because nesting multiplies counts. */
function repetitionsOf(source: string): number {
  let sum = 0
  for (const [, low, high] of source.matchAll(/(?<!\\x|\\)\{(\d+)(?:,(\d*))?\}/g)) sum += Number(high || low)
  return sum
}

/** Loaded with the first expression, so that programs that only report records save 20 ms and 4 MB. */
function loadEngine(): typeof RE2JS {
  engine ??= (createRequire(import.meta.url)('re2js') as typeof import('re2js')).RE2JS
  return engine
}

function tooLarge(place: string, source: string): SondeError {
  return refused(place, source, `it takes over ${PROGRAM_LIMIT} instructions; repeat less`)
}

function refused(place: string, source: string, reason: string, cause?: unknown): SondeError {
  return new SondeError(
    'QRY_FORM',
    `${place} is ${JSON.stringify(source.slice(0, 100))}; allowed: a regular expression (RE2): ${reason}`,
    cause === undefined ? {} : { cause },
  )
}
