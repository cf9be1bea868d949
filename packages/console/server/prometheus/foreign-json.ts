import type { Labels } from '@sonde/sdk'

/** A value of a series, as servers write it. */
export type ForeignPoint = readonly [seconds: number, value: string]

/**
 * An element of a list, whose fields are anything.
 *
 * @throws SyntaxError if it is no object.
 */
export function objectIn(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new SyntaxError('no object')
}

/**
 * The labels of a series: texts, as all that is made of them takes them to be.
 *
 * @throws SyntaxError if they are none.
 */
export function labelsIn(value: unknown): Labels {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isObject && Object.values(value).every((text) => typeof text === 'string')) return value as Labels
  throw new SyntaxError('no labels of a series')
}

/**
 * A time and a value.
 *
 * @throws SyntaxError if it is none.
 */
export function pointIn(value: unknown): ForeignPoint {
  const [seconds, text] = Array.isArray(value) ? (value as unknown[]) : []
  if (typeof seconds === 'number' && typeof text === 'string') return [seconds, text]
  throw new SyntaxError('no value of a series')
}
