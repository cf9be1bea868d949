import { levelsOf, type Matcher, type SeriesQuery } from '@sonde/sdk/internal'
import { labelName, promqlDuration, selectorOf } from './promql.ts'

/** A value is valid for at most this many periods of its source, as in the store. */
export const HOLD_INTERVALS = 2.5

/** Default of the time that a selector of the server looks back. Unit: milliseconds. */
const LOOKBACK_MS = 300_000

/** Spacing of samples, as far as the functions of a query need it. */
export interface Grain {
  /** Unit: milliseconds. */
  readonly stepMs: number
  /** Distance of the samples. Unit: milliseconds. */
  readonly intervalMs: number
  /** How long a value stays valid. Unit: milliseconds. */
  readonly holdMs: number
  /** Whether functions of counters also use the reading before their range, as in VictoriaMetrics. */
  readonly looksBack: boolean
}

/**
 * Applies a function to the samples in `(time - step, time]`, or to the last sample before it if that is still valid.
 * Ranges are 1 ms short, because ranges of Prometheus 2 include both ends.
 */
export function functionOf(
  fn: SeriesQuery['function'],
  metrics: readonly string[],
  matchers: readonly Matcher[],
  grain: Grain,
): string {
  const { stepMs, intervalMs, holdMs } = grain
  const selector = selectorOf(metrics, matchers)
  const over = (name: string, ms: number) => `${name}(${selector}[${promqlDuration(ms - 1)}])`
  // If a step holds samples, its value is the last of them, even if the series ended afterwards.
  if (fn === 'last' && stepMs >= intervalMs) return over('last_over_time', Math.max(stepMs, holdMs))
  const last = heldOf(selector, holdMs, grain)
  if (fn === 'last') return last
  if (fn === 'avg' || fn === 'min' || fn === 'max') {
    const ofStep = over(`${fn}_over_time`, stepMs)
    // In Prometheus only the last value keeps its name. Here both sides drop it, or one series would become two.
    return holdMs > stepMs ? `(${ofStep} + 0 or ${last} + 0)` : ofStep
  }
  const rate = rateOf(over, grain)
  return fn === 'increase' ? `(${rate} * ${stepMs / 1000})` : rate
}

/**
 * The last valid value if a step holds no sample. A scrape marks a vanished series as stale. Functions over a range
 * ignore that mark; a selector respects it, so the selector decides as long as it looks back far enough.
 */
function heldOf(selector: string, holdMs: number, { looksBack }: Grain): string {
  const held = `last_over_time(${selector}[${promqlDuration(holdMs - 1)}])`
  return looksBack || holdMs > LOOKBACK_MS ? held : `(${held} and ${selector})`
}

/** The steps in which a counter fell. */
export function resetsOf(metric: string, matchers: readonly Matcher[], grain: Grain): string {
  return `(resets(${selectorOf([metric], matchers)}[${promqlDuration(pairsMs(grain) - 1)}]) > 0)`
}

/** The range that holds all pairs of readings that end in a step. Unit: milliseconds. */
export function pairsMs({ stepMs, intervalMs, looksBack }: Grain): number {
  return looksBack ? stepMs : stepMs + intervalMs
}

/**
 * The rate over the pairs of readings that end in the step. A range of a step plus a period has exactly these pairs. If
 * a step has at most one pair, that is the last pair. A restart adds neither gain nor time, so no rate is computed
 * across a restart.
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

/** An expression aggregated level by level; no level drops the labels of `kept`. */
export function joinedExpression(
  expression: string,
  query: Pick<SeriesQuery, 'by' | 'aggregate' | 'within'>,
  kept: readonly string[] = [],
): string {
  return levelsOf(query).reduce((inner, { by, aggregate }) => {
    const labels = [...kept, ...by.map(labelName)]
    return `${aggregate} by (${[...new Set(labels)].join(', ')}) (${inner})`
  }, expression)
}
