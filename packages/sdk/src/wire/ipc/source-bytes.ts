import type { SourceEntry } from './frame.ts'

/** What a source takes beside its texts, and a label beside its characters. Unit: bytes. */
const SOURCE_BYTES = 1000
const LABEL_BYTES = 100

/**
 * Memory that a service keeps for a source: a client counts it too, so that it stops before it is sent away. Unit:
 * bytes.
 */
export function sourceBytes({ id, tag, labels }: Pick<SourceEntry, 'id' | 'tag' | 'labels'>): number {
  let bytes = SOURCE_BYTES + 2 * (id.length + tag.length)
  for (const [name, text] of Object.entries(labels)) bytes += LABEL_BYTES + 2 * (name.length + text.length)
  return bytes
}
