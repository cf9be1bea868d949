import type { RatesAnswer } from '@sonde/sdk/api'
import { type Destination, estimateOf, type FieldSet, messageOf, type TypeDefinition } from '@sonde/sdk/internal'
import * as v from 'valibot'
import { answerAt } from './agent-answer.ts'

/** Longest time that an agent needs for an answer, even on a busy machine. Unit: milliseconds. */
const AGENT_LIMIT_MS = 5000

const whole = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The parts of an answer that are read: the program at the address may be another program, or of another version. */
const answerSchema = v.looseObject({
  types: v.array(v.looseObject({ fingerprint: v.string(), definition: v.custom<TypeDefinition>(isObject) })),
  rates: v.array(
    v.looseObject({
      ...{ source: v.string(), tag: v.string(), type: v.string(), series: whole },
      recordsPerS: v.pipe(v.number(), v.minValue(0)),
      present: v.record(v.string(), whole),
    }),
  ),
  leftOut: whole,
})

/** The rates of the series of the agent at an address, or why there are none. */
export async function ratesAt(place: string): Promise<RatesAnswer | string> {
  try {
    const { status, text } = await answerAt(`${place}/api/v1/rates`, AGENT_LIMIT_MS)
    if (status !== 200) return `${place} answers ${status}`
    const { success, output } = v.safeParse(answerSchema, jsonOf(text))
    return success ? output : `the program at ${place} is no agent of this version`
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

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Another program answers.
    return undefined
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
