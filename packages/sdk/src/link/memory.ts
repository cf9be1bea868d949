import { textBytes } from '../schema/texts.ts'
import type { LinkSource } from './item.ts'

/** What a source takes beside its texts, and a label beside its characters. Unit: bytes. */
const SOURCE_BYTES = 1000
const LABEL_BYTES = 100
/** What a field of a type takes, and a character of its definition. Unit: bytes. */
const FIELD_BYTES = 400
const CHARACTER_BYTES = 4

/** Memory that the far end keeps for a source: both ends count it, so that the near end stops in time. Unit: bytes. */
export function sourceBytes({ id, tag, labels }: LinkSource): number {
  let bytes = SOURCE_BYTES + 2 * (id.length + tag.length)
  for (const [name, text] of Object.entries(labels)) bytes += LABEL_BYTES + 2 * (name.length + text.length)
  return bytes
}

/** Memory that the far end keeps for a type, with room to spare. Unit: bytes. */
export function typeBytes(fieldCount: number, definitionCharacters: number): number {
  return FIELD_BYTES * fieldCount + CHARACTER_BYTES * definitionCharacters
}

/** Memory that the far end keeps for texts. Unit: bytes. */
export function textsBytes(texts: readonly string[]): number {
  return texts.reduce((total, text) => total + textBytes(text), 0)
}
