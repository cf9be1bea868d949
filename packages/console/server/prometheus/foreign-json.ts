import type { Labels } from '@sonde/sdk'
import { type JsonObject, JsonReader } from '@sonde/sdk/internal'

const read = new JsonReader((message) => new SyntaxError(message))

/** A value of a series in the form that servers write. */
export type ForeignPoint = readonly [seconds: number, value: string]

/**
 * An element of a list; its fields may have any type.
 *
 * @throws SyntaxError if it is no object.
 */
export function objectIn(text: string): JsonObject {
  return read.object('an element', JSON.parse(text))
}

/**
 * The labels of a series, checked to be texts.
 *
 * @throws SyntaxError if a label is no text.
 */
export function labelsIn(value: unknown): Labels {
  const labels = read.object('metric', value)
  for (const [name, text] of Object.entries(labels)) read.text(`label ${name}`, text)
  return labels as Labels
}

/**
 * A time with a value.
 *
 * @throws SyntaxError if it is none.
 */
export function pointIn(value: unknown): ForeignPoint {
  const [seconds, text] = Array.isArray(value) ? (value as unknown[]) : []
  if (typeof seconds === 'number' && typeof text === 'string') return [seconds, text]
  throw read.wrong('value', value, 'a time and a text')
}
