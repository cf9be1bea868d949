import type { RatesAnswer } from '@sonde/sdk/api'
import { type Destination, estimateOf, type FieldSet, messageOf } from '@sonde/sdk/internal'

/** Longest time that an agent needs for an answer, even on a busy machine. Unit: milliseconds. */
const AGENT_LIMIT_MS = 5000

/** The rates of the series of the agent at an address, or why there are none. */
export async function ratesAt(place: string): Promise<RatesAnswer | string> {
  try {
    const response = await fetch(`${place}/api/v1/rates`, { signal: AbortSignal.timeout(AGENT_LIMIT_MS) })
    if (!response.ok) return `${place} answers ${response.status}`
    const answer = (await response.json()) as Partial<RatesAnswer>
    return Array.isArray(answer.rates) && Array.isArray(answer.types)
      ? (answer as RatesAnswer)
      : `no agent is at ${place}`
  } catch {
    return `no agent answers at ${place}; start one without this destination, then check again`
  }
}

/** What a destination would be sent, in words, or why this is not known. */
export function estimateWords(
  destination: Destination,
  fieldSet: FieldSet | undefined,
  rates: RatesAnswer | string,
): string {
  if (typeof rates === 'string') return `none: ${rates}`
  try {
    const { series, samplesPerS, bytesPerS } = estimateOf(destination, fieldSet, rates)
    const { set = 'full', intervalS = 0 } = destination.common
    const given = intervalS === 0 ? set : `${set}, every ${intervalS} s`
    const more = rates.leftOut > 0 ? `, and those of ${rates.leftOut} types that the agent does not list` : ''
    return `${given}: about ${rounded(series)} series, ${rounded(samplesPerS)} samples/s, ${rounded(bytesPerS)} bytes/s${more}`
  } catch (error) {
    return `none: ${messageOf(error)}`
  }
}

/** At most three digits that count: an estimate has no more. */
function rounded(number: number): string {
  return Number(number.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 2, useGrouping: false })
}
