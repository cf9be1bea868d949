import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'
import { messageOf, SondeError } from '../errors.ts'

/** Longest expression of a matcher. Unit: characters. */
const LENGTH_LIMIT = 512
/**
 * Largest program that an expression may become, which is what one character of a text costs at most. Unit:
 * instructions.
 */
const PROGRAM_LIMIT = 1000
/**
 * Compiled expressions that are kept. Each may grow to 8 MiB, where texts are many and the expression is made for it.
 */
const KEPT_COUNT = 16

/**
 * Largest product of program and text that is tried: the longest label with a program of a quarter of the limit. Unit:
 * instructions times characters.
 */
const TEST_LIMIT = 1_000_000
/** What a thousand of them take at most. A test is charged no more, so that a pause of the process is not its fault. */
const MS_PER_THOUSAND = 0.1
/**
 * What expressions may take of a thread: so much of the time in the long run, and so much at a time. Policy: a question
 * that would take more is refused. What one client reports and another asks costs nobody else the thread. Unit:
 * milliseconds.
 */
const SHARE = 0.25
const BURST_MS = 100

let leftMs = BURST_MS
let lookedMs = 0

/** Whether a text matches an expression, from its first to its last character. */
export type Matches = (text: string) => boolean

/** The least recently used comes first. */
const kept = new Map<string, Matches>()
let engine: typeof RE2JS | undefined

/**
 * The test of an expression as Prometheus has it: RE2 syntax, anchored at both ends, `.` is any character. The time it
 * takes grows with the length of the text and never faster, whatever the expression, so that one from outside may be
 * let in. A live stream asks the same at every step: the last few are kept.
 *
 * A test throws `QRY_FORM` where expression and text together are too large, and `QRY_BUSY` where expressions have
 * taken their share of the thread.
 *
 * @throws SondeError `QRY_FORM` names the expression and why it is refused: no expression, over 512 characters, or over
 * 1 000 instructions.
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

/** Gives expressions their whole budget again: where requests take turns, each request has a budget of its own. */
export function refillExpressions(): void {
  leftMs = BURST_MS
}

function compile(source: string, place: string): Matches {
  if (source.length > LENGTH_LIMIT) {
    throw refused(place, source, `it has ${source.length} characters; at most ${LENGTH_LIMIT}`)
  }
  // An expression of some characters can stand for millions of instructions, which would be made before they are
  // counted.
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
  // It is kept for whoever asks the same: where it stood the first time is not where it stands the next.
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

/** The sum of all counts such as `{8}`: a lower bound of the program, less than what nesting makes of it. */
function repetitionsOf(source: string): number {
  let sum = 0
  for (const [, low, high] of source.matchAll(/(?<!\\x|\\)\{(\d+)(?:,(\d*))?\}/g)) sum += Number(high || low)
  return sum
}

/** Loaded with the first expression: who only reports records need not pay 20 ms and 4 MB for it. */
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
