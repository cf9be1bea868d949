import { levelsOf, type Matcher, type SeriesQuery } from '@sonde/sdk/internal'
import { labelName, selectorOf, spanOf } from './promql.ts'

/** A value holds for at most this many periods of its source, as in the store. */
export const HOLD_INTERVALS = 2.5

/** How far a selector looks back, unless a server is told otherwise. Unit: milliseconds. */
const LOOKBACK_MS = 300_000

/** How samples lie: what the functions of the form need to know of them. */
export interface Grain {
  /** Unit: milliseconds. */
  readonly stepMs: number
  /** Distance of the samples. Unit: milliseconds. */
  readonly intervalMs: number
  /** How long a value holds. Unit: milliseconds. */
  readonly holdMs: number
  /** Whether functions of counters also see the reading before their range, as at VictoriaMetrics. */
  readonly looksBack: boolean
}

/**
 * What a function makes of the samples in `(time - step, time]`, or of the last ones where there are none and they hold
 * still. Ranges are 1 ms short, as those of Prometheus 2 include both ends.
 */
export function functionOf(
  fn: SeriesQuery['function'],
  metrics: readonly string[],
  matchers: readonly Matcher[],
  grain: Grain,
): string {
  const { stepMs, intervalMs, holdMs } = grain
  const selector = selectorOf(metrics, matchers)
  const over = (name: string, ms: number) => `${name}(${selector}[${spanOf(ms - 1)}])`
  // A step that holds samples has the last of them, whatever became of the series then.
  if (fn === 'last' && stepMs >= intervalMs) return over('last_over_time', Math.max(stepMs, holdMs))
  const last = heldOf(selector, holdMs, grain)
  if (fn === 'last') return last
  if (fn === 'avg' || fn === 'min' || fn === 'max') {
    const ofStep = over(`${fn}_over_time`, stepMs)
    // Only the last value keeps its name, at Prometheus; here neither may, or a series would be two.
    return holdMs > stepMs ? `(${ofStep} + 0 or ${last} + 0)` : ofStep
  }
  const rate = rateOf(over, grain)
  return fn === 'increase' ? `(${rate} * ${stepMs / 1000})` : rate
}

/**
 * The last value where a step holds none. A series that a scrape no longer has is marked as stale, which functions over
 * a range do not see, and a selector does: as long as that looks back at least as far, its word counts.
 */
function heldOf(selector: string, holdMs: number, { looksBack }: Grain): string {
  const held = `last_over_time(${selector}[${spanOf(holdMs - 1)}])`
  return looksBack || holdMs > LOOKBACK_MS ? held : `(${held} and ${selector})`
}

/** Where a counter fell in a step, as the form sees it. */
export function resetsOf(metric: string, matchers: readonly Matcher[], grain: Grain): string {
  return `(resets(${selectorOf([metric], matchers)}[${spanOf(pairsMs(grain) - 1)}]) > 0)`
}

/** The range that holds the pairs of readings that end in a step. Unit: milliseconds. */
export function pairsMs({ stepMs, intervalMs, looksBack }: Grain): number {
  return looksBack ? stepMs : stepMs + intervalMs
}

/**
 * The rate over the pairs of readings that end in the step. A range of a step and a period has exactly these; where a
 * step has at most one pair, the last pair is it. A restart is neither gain nor time, so no rate is told across one.
 */
function rateOf(over: (name: string, ms: number) => string, grain: Grain): string {
  const { stepMs, intervalMs, looksBack } = grain
  const pairs = pairsMs(grain)
  const pair = looksBack ? intervalMs : 2 * intervalMs
  const ofStep = `(${over('rate', pairs)} unless ${over('resets', pairs)} > 0)`
  const held = `(${over('irate', (HOLD_INTERVALS + 1) * intervalMs)} unless ${over('resets', pair)} > 0)`
  if (stepMs <= intervalMs) return held
  return stepMs < HOLD_INTERVALS * intervalMs ? `(${ofStep} or ${held})` : ofStep
}

/** An expression joined level by level; `kept` are labels that no level drops. */
export function joined(
  expression: string,
  query: Pick<SeriesQuery, 'by' | 'aggregate' | 'within'>,
  kept: readonly string[] = [],
): string {
  return levelsOf(query).reduce((inner, { by, aggregate }) => {
    const labels = [...kept, ...by.map(labelName)]
    return `${aggregate} by (${[...new Set(labels)].join(', ')}) (${inner})`
  }, expression)
}
