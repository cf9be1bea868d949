import { textBytes } from '../schema/texts.ts'
import type { LinkSource } from './item.ts'

/** Memory of a source without its texts, and of a label without its characters. Unit: bytes. */
const SOURCE_BYTES = 1000
const LABEL_BYTES = 100
/** Memory of a field of a type, and of a character of its definition. Unit: bytes. */
const FIELD_BYTES = 400
const CHARACTER_BYTES = 4

/** Memory of a source at the reader. The writer counts it too, and so stays within the limit. Unit: bytes. */
export function sourceBytes({ id, tag, labels }: LinkSource): number {
  let bytes = SOURCE_BYTES + 2 * (id.length + tag.length)
  for (const [name, text] of Object.entries(labels)) bytes += LABEL_BYTES + 2 * (name.length + text.length)
  return bytes
}

/** Memory of a type at the reader, estimated high. Unit: bytes. */
export function typeBytes(fieldCount: number, definitionCharacters: number): number {
  return FIELD_BYTES * fieldCount + CHARACTER_BYTES * definitionCharacters
}

/** Memory of texts at the reader. Unit: bytes. */
export function textsBytes(texts: readonly string[]): number {
  return texts.reduce((total, text) => total + textBytes(text), 0)
}
